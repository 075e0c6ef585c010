// Proves that blocks are read with what they say about themselves, and that one which nobody would
// check, which never ends, or which does what is not built yet, is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBlocks } from './blocks.ts';

test('blocks of each kind', () => {
  const page = [
    'Text with `code`.',
    '```ts file=providers/a/src/x.ts',
    'export {};',
    '```',
    '```ts excerpt=packages/base/src/index.ts',
    '```',
    '```sh run',
    'echo "`date`"',
    'true',
    '```',
    '````sh serve',
    '```',
    '````',
    '```yaml values=bigfleet',
    'a: 1',
    '```',
    '```promql',
    'up',
    '```',
    '```',
    'shard ──▶ provider',
    '```',
  ].join('\n');
  assert.deepEqual(readBlocks(page), [
    { kind: 'file', path: 'providers/a/src/x.ts', line: 2, text: 'export {};' },
    { kind: 'excerpt', path: 'packages/base/src/index.ts', line: 5, text: '' },
    { kind: 'run', line: 7, text: 'echo "`date`"\ntrue' },
    { kind: 'serve', line: 11, text: '```' },
    { kind: 'values', chart: 'bigfleet', line: 14, text: 'a: 1' },
    { kind: 'promql', line: 17, text: 'up' },
    { kind: 'text', line: 20, text: 'shard ──▶ provider' },
  ]);
});

test('a block inside a list is read without its indentation', () => {
  const page = '1. Do it:\n\n   ```sh kube\n   kubectl get \\\n     pods\n   ```\n';
  assert.deepEqual(readBlocks(page), [{ kind: 'kube', line: 3, text: 'kubectl get \\\n  pods' }]);
});

const refused: readonly (readonly [string, string, RegExp])[] = [
  ['no kind', '```sh\nls\n```', /line 1: nobody checks a block of "sh"/],
  ['a command without a language', 'a\n```\nls\n```', /line 2: nobody checks a block of ""/],
  ['a manifest without a kind', '```yaml\na: 1\n```', /nobody checks a block of "yaml"/],
  ['a file without a path', '```ts file=\n```', /nobody checks/],
  ['a command as TypeScript', '```ts run\n```', /nobody checks/],
  ['an open block', '```sh run\nls', /line 1: the block is never closed/],
  [
    'a command of the future',
    'Future: one day,\nthis.\n\n```sh run\nx\n```',
    /line 4: .* below Future:/,
  ],
];

for (const [what, page, problem] of refused) {
  test(`${what} is refused`, () => {
    assert.throws(() => readBlocks(page), problem);
  });
}

test('text of the future, and a command after it, are taken', () => {
  const page = 'Future: one day.\n\n```text\nx\n```\n\nNow:\n\n```sh run\ntrue\n```\n';
  assert.deepEqual(
    readBlocks(page).map(({ kind }) => kind),
    ['text', 'run'],
  );
});
