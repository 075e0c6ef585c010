// Proves that a published package holds what its entries reach and nothing else, that an import
// which would break in an empty folder stops the packing, and that our own packages are sound.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { publishedSources } from './closure.ts';
import { PUBLISHED, publishedFilesOf } from './staging.ts';

const ROOT = path.join(import.meta.dirname, '../..');

function plant(t: TestContext, sources: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'closure-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [file, text] of Object.entries(sources)) {
    mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
  return folder;
}

test('what the entries reach, by every kind of import, and nothing else', (t) => {
  const folder = plant(t, {
    'src/index.ts':
      "import type { T } from './types.ts';\nexport * from './a/x.ts';\nexport type { T };",
    'src/main.ts': "import 'yaml/deep';\nawait import('./late.ts');",
    'src/types.ts': 'export type T = 1;',
    'src/a/x.ts': "import fs from 'node:fs';\nimport '../index.ts';\nexport { fs };",
    'src/late.ts':
      "new URL('../../', import.meta.url);\nnew URL('../testing/x.ts', import.meta.url);",
    'src/self/main.ts': "import '@bigfleet/kit';",
    'src/x.test.ts': "import './a/x.ts';",
  });
  const sources = publishedSources({
    folder,
    entries: ['src/index.ts', 'src/main.ts'],
    dependencies: ['yaml'],
  });
  assert.deepEqual(sources, [
    'src/a/x.ts',
    'src/index.ts',
    'src/late.ts',
    'src/main.ts',
    'src/types.ts',
  ]);
});

const broken: readonly (readonly [string, string, RegExp])[] = [
  ['a package that is no dependency', "import '@bigfleet/kit/x';", /:1 imports @bigfleet\/kit, /],
  ['a path out of the package', "export * from '../testing/x.ts';", /outside src\//],
  ['a name computed at run time', 'await import(name);', /computed at run time/],
  ['a worker by URL', "new URL('./w.ts', import.meta.url);", /built as \.js/],
  ['a file that is not there', "import './none.ts';", /none\.ts .*does not exist/],
];

for (const [what, source, problem] of broken) {
  test(`${what} stops the packing`, (t) => {
    const folder = plant(t, { 'src/index.ts': source });
    const subject = { folder, entries: ['src/index.ts'], dependencies: ['yaml'] };
    assert.throws(() => publishedSources(subject), problem);
  });
}

test('our published packages hold their face, and no test, mutant or self-test', () => {
  const files = PUBLISHED.flatMap((name) =>
    publishedFilesOf(path.join(ROOT, 'packages', name)).map((file) => `${name}/${file}`),
  );
  for (const name of PUBLISHED) assert.ok(files.includes(`${name}/src/index.ts`), name);
  for (const file of [
    'base/src/runtime/real.ts',
    'wire/src/memory/index.ts',
    'providerkit/src/process/run-provider.ts',
    'providerkit/src/store/journal/journal-store.ts',
    'conformance/src/main.ts',
    'conformance/src/behaviours/index.ts',
  ]) {
    assert.ok(files.includes(file), `${file} is not published`);
  }
  const stray = files.filter((file) =>
    /\.(?:test|long)\.ts$|\/(?:testing|testdata|mutants|self)\//.test(file),
  );
  assert.deepEqual(stray, []);
});
