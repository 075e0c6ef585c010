// Proves that bundled commands run on Node alone, away from the repository: shared chunks, packages
// in CommonJS, workers that start workers; and that what cannot be bundled stops the build.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { bundle } from './bundle.ts';

type Files = Readonly<Record<string, string>>;

function plant(t: TestContext, files: Files): string {
  const root = mkdtempSync(path.join(tmpdir(), 'bundle-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  return root;
}

async function bundled(t: TestContext, files: Files, commands: Files) {
  const root = plant(t, files);
  const out = path.join(plant(t, {}), 'lib');
  const names = await bundle({ root, commands, out, node: process.execPath });
  rmSync(path.join(root, 'packages'), { recursive: true });
  return { out, names, run: (name: string) => runCommand(path.join(out, `${name}.mjs`)) };
}

/** By its first line, as the kernel starts it. */
function runCommand(file: string): string {
  return execFileSync(file, { encoding: 'utf8' }).trim();
}

const PACKAGE: Files = {
  'node_modules/@x/cjs/package.json': '{"name":"@x/cjs","version":"1.2.3","license":"MIT"}',
  'node_modules/@x/cjs/index.js': "module.exports = require('os').EOL.length;",
  'node_modules/@x/cjs/LICENSE': 'Do what you like.',
};

test('commands with a shared package run without it, and its notice is beside them', async (t) => {
  const files: Files = {
    ...PACKAGE,
    'packages/a/src/one.ts': "import n from '@x/cjs';\nconsole.log('one', n satisfies number);",
    'packages/a/src/two.ts': "const m = await import('./lazy.ts');\nconsole.log('two', m.n);",
    'packages/a/src/lazy.ts': "import n from '@x/cjs';\nexport { n };",
  };
  const commands = { one: 'packages/a/src/one.ts', two: 'packages/a/src/two.ts' };
  const { out, run } = await bundled(t, files, commands);
  assert.equal(run('one'), 'one 1');
  assert.equal(run('two'), 'two 1');
  const notices = readFileSync(path.join(out, 'THIRD-PARTY-NOTICES'), 'utf8');
  assert.equal(notices, '@x/cjs 1.2.3 (MIT)\n\nDo what you like.\n');
});

test('a worker that starts a worker of the same name elsewhere is found and runs', async (t) => {
  const starts = (file: string) =>
    `new Worker(new URL('${file}', import.meta.url)).on('message', (m) => (parentPort ?? { postMessage: console.log }).postMessage('<' + m + '>'));`;
  const threads = "import { parentPort, Worker } from 'node:worker_threads';\n";
  const files: Files = {
    'packages/a/src/main.ts': threads + starts('./deep/w.ts'),
    'packages/a/src/deep/w.ts': threads + starts('../w.ts'),
    'packages/a/src/w.ts': `${threads}parentPort?.postMessage('inner' as string);`,
  };
  const { names, run } = await bundled(t, files, { main: 'packages/a/src/main.ts' });
  assert.ok(names.includes('a.deep.w.mjs') && names.includes('a.w.mjs'), names.join(' '));
  assert.equal(run('main'), '<<inner>>');
});

const refused: readonly (readonly [string, Files, RegExp])[] = [
  [
    'a worker that is not there',
    { 'packages/a/src/main.ts': "new URL('./w.ts', import.meta.url);" },
    /main\.ts names \.\/w\.ts: no such file/,
  ],
  [
    'a package that is not installed',
    { 'packages/a/src/main.ts': "import 'none';" },
    /Could not resolve "none"/,
  ],
  [
    'what the bundler warns about',
    { 'packages/a/src/main.ts': 'console.log({ a: 1, a: 2 });' },
    /main\.ts: Duplicate key "a"/,
  ],
  [
    'a worker with the name of a command',
    {
      'packages/main.ts': '',
      'packages/a/src/start.ts': "new URL('../../main.ts', import.meta.url);",
    },
    /two outputs are named main/,
  ],
];

for (const [what, files, problem] of refused) {
  test(`${what} stops the build`, async (t) => {
    const root = plant(t, files);
    const source = Object.keys(files).at(-1) ?? '';
    const spec = { root, commands: { main: source }, out: path.join(root, 'out'), node: 'node' };
    await assert.rejects(bundle(spec), problem);
  });
}
