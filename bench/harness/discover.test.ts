// Proves which files a pattern loads, and that misplaced, doubled and empty definitions are
// refused.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { discover } from './discover.ts';
import { selectNames } from './run-benches.ts';

const HARNESS = join(import.meta.dirname, 'index.ts');

function benchSource(...names: readonly string[]): string {
  const benches = names.map(
    (name) => `defineBench({ name: '${name}', shape: { n: 1 }, warmup: 0, iterations: 1,
      setup: () => null, observe: () => ({ n: 1 }), iteration: () => undefined })`,
  );
  return `import { defineBench, defineRatio } from ${JSON.stringify(HARNESS)};
    export default [${benches.join(', ')}];`;
}

async function withFiles(
  files: Readonly<Record<string, string>>,
  use: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-discover-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('loads what the pattern could match and nothing else', async () => {
  const files = {
    'wire/calls.bench.ts': benchSource('wire/unary', 'wire/bidi'),
    'broken/x.bench.ts': 'throw new Error("loaded");',
    'wire/testdata/wire/bad.bench.ts': 'throw new Error("loaded");',
    'wire/helper.ts': 'throw new Error("loaded");',
  };
  await withFiles(files, async (folder) => {
    const found = await discover(folder, ['wire/u*']);
    assert.equal(found.fileCount, 1);
    assert.deepEqual([...found.benches.keys()], ['wire/unary', 'wire/bidi']);
    assert.deepEqual(selectNames(found, 'wire/u*'), ['wire/unary']);
    await assert.rejects(discover(folder, ['*']), /loaded/);
  });
});

test('a ratio loads the file of its partner', async () => {
  const ratio = `defineRatio({ of: 'shard/a', over: 'engine/a', metric: 'p99Ms', as: 'slowdown' })`;
  const files = {
    'engine/a.bench.ts': benchSource('engine/a'),
    'shard/a.bench.ts': benchSource('shard/a').replace('];', `, ${ratio}];`),
    'other/a.bench.ts': benchSource('other/a'),
  };
  await withFiles(files, async (folder) => {
    const found = await discover(folder, ['shard/*']);
    assert.equal(found.fileCount, 2);
    assert.deepEqual(selectNames(found, 'shard/*'), ['engine/a', 'shard/a']);
  });
});

const refused: readonly [files: Readonly<Record<string, string>>, problem: RegExp][] = [
  [{ 'wire/a.bench.ts': benchSource('base/a') }, /must start with wire\//],
  [
    { 'wire/a.bench.ts': benchSource('wire/a'), 'wire/b.bench.ts': benchSource('wire/a') },
    /defined twice/,
  ],
  [{ 'wire/a.bench.ts': 'export default [];' }, /export default \[defineBench/],
  [{ 'wire/a.bench.ts': 'export const x = 1;' }, /export default \[defineBench/],
];

test('refusals', async () => {
  for (const [files, problem] of refused) {
    await withFiles(files, (folder) => assert.rejects(discover(folder, ['*']), problem));
  }
});
