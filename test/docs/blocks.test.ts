// Proves that blocks are read with what they say about themselves, and that one which nobody would
// check, or which never ends, is refused.

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
  ].join('\n');
  assert.deepEqual(readBlocks(page), [
    { kind: 'file', path: 'providers/a/src/x.ts', text: 'export {};' },
    { kind: 'excerpt', path: 'packages/base/src/index.ts', text: '' },
    { kind: 'run', line: 7, text: 'echo "`date`"\ntrue' },
    { kind: 'serve', line: 11, text: '```' },
  ]);
});

const refused: readonly (readonly [string, string, RegExp])[] = [
  ['no kind', '```sh\nls\n```', /line 1: nobody checks a block of "sh"/],
  ['no language', 'a\n```\nls\n```', /line 2: nobody checks a block of ""/],
  ['a file without a path', '```ts file=\n```', /nobody checks/],
  ['a command as TypeScript', '```ts run\n```', /nobody checks/],
  ['an open block', '```sh run\nls', /line 1: the block is never closed/],
];

for (const [what, page, problem] of refused) {
  test(`${what} is refused`, () => {
    assert.throws(() => readBlocks(page), problem);
  });
}
