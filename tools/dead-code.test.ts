// Proves with the real knip and our own configuration that dead files, exports and dependencies
// are found, and that a package which exports nothing yet is fine. Some tools that load the
// TypeScript compiler see nothing under TypeScript 7 and exit 0; this one must keep seeing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';

const ROOT = path.join(import.meta.dirname, '..');

function manifest(name: string, dependencies: Readonly<Record<string, string>> = {}): string {
  const exports = { '.': './src/index.ts' };
  return JSON.stringify({ name, version: '0.1.0', type: 'module', exports, dependencies });
}

const TREE: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ name: 'root', private: true, workspaces: ['packages/*'] }),
  'packages/later/package.json': manifest('@bigfleet/later'),
  'packages/later/src/index.ts': '// Nothing yet.\nexport {};\n',
  'packages/now/package.json': manifest('@bigfleet/now', { yaml: '2.0.0' }),
  'packages/now/src/index.ts': "export { used } from './used.ts';\n",
  'packages/now/src/used.ts': 'export const used = 1;\nexport const unused = 2;\n',
  'packages/now/src/orphan.ts': 'export const orphan = 1;\n',
  'packages/now/src/tested.ts': 'export const tested = 1;\n',
  'packages/now/src/tested.test.ts':
    "import { tested } from './tested.ts';\nconsole.log(tested);\n",
  'packages/now/src/gen/x_pb.ts': 'export const generated = 1;\n',
  'tools/walls/check.ts': "import 'left-pad';\n",
};

interface Named {
  readonly name: string;
}

interface Issue {
  readonly file: string;
  readonly files: readonly Named[];
  readonly exports: readonly Named[];
  readonly dependencies: readonly Named[];
  readonly unlisted: readonly Named[];
}

function plant(t: TestContext): string {
  const root = mkdtempSync(path.join(tmpdir(), 'knip-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [file, text] of Object.entries(TREE)) {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  copyFileSync(path.join(ROOT, 'knip.json'), path.join(root, 'knip.json'));
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
  return root;
}

test('knip with our configuration finds what is dead and nothing else', (t) => {
  const knip = path.join(ROOT, 'node_modules/.bin/knip');
  const run = spawnSync(knip, ['--reporter', 'json', '--no-config-hints'], {
    cwd: plant(t),
    encoding: 'utf8',
  });
  assert.equal(run.status, 1, run.stdout + run.stderr);
  const { issues } = JSON.parse(run.stdout) as { readonly issues: readonly Issue[] };
  const found = issues.flatMap(({ file, files, exports, dependencies, unlisted }) => [
    ...files.map(() => `${file} unused file`),
    ...exports.map(({ name }) => `${file} unused export ${name}`),
    ...dependencies.map(({ name }) => `${file} unused dependency ${name}`),
    ...unlisted.map(({ name }) => `${file} unlisted ${name}`),
  ]);
  assert.deepEqual(found.sort(), [
    'packages/now/package.json unused dependency yaml',
    'packages/now/src/orphan.ts unused file',
    'packages/now/src/used.ts unused export unused',
    'tools/walls/check.ts unlisted left-pad',
  ]);
});
