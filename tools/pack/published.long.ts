// Proves the out-of-tree path: the published packages, packed and installed into an empty folder
// by npm, import at run time and type-check for a consumer. Needs the package registry.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { PUBLISHED, stagePackages } from './staging.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const INSTALL_LIMIT_MS = 300_000;

test('packed packages install, import and type-check outside the repository', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'published-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const out = path.join(folder, 'tarballs');
  const consumer = path.join(folder, 'consumer');
  mkdirSync(out);
  mkdirSync(consumer);
  const packed = stagePackages({ root: ROOT, names: PUBLISHED, out });
  writeFileSync(path.join(consumer, 'package.json'), '{ "private": true, "type": "module" }\n');
  const tarballs = packed.map(({ tarball }) => tarball);
  execFileSync('npm', ['install', '--prefer-offline', '--ignore-scripts', ...tarballs], {
    cwd: consumer,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: INSTALL_LIMIT_MS,
  });

  const names = packed.map(({ name }) => name);
  const lines = names.map((name, i) => `import * as p${i} from '${name}';`);
  const shown = names.map((name, i) => `['${name}', Object.keys(p${i}).length]`);
  const source = `${lines.join('\n')}\nconsole.log(JSON.stringify([${shown.join(', ')}]));\n`;
  writeFileSync(path.join(consumer, 'main.mjs'), source);
  const printed = execFileSync(process.execPath, ['main.mjs'], { cwd: consumer, encoding: 'utf8' });
  for (const [name, count] of JSON.parse(printed) as ReadonlyArray<readonly [string, number]>) {
    assert.ok(count > 0, `${name} exports nothing`);
    t.diagnostic(`${name}: ${count} exports`);
  }

  writeFileSync(path.join(consumer, 'main.mts'), `${lines.join('\n')}\nexport { p0 };\n`);
  const tsc = path.join(ROOT, 'node_modules/.bin/tsc');
  const types = path.join(ROOT, 'node_modules/@types');
  const flags = ['--module', 'nodenext', '--target', 'es2024', '--strict', '--noEmit'];
  const args = [
    ...flags,
    '--lib',
    'es2024,esnext.disposable',
    '--typeRoots',
    types,
    '--types',
    'node',
  ];
  const check = spawnSync(tsc, [...args, 'main.mts'], { cwd: consumer, encoding: 'utf8' });
  assert.equal(check.status, 0, check.stdout);
});
