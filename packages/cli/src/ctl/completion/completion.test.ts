// Proves the completion scripts in the shells themselves: bash completes verbs, kinds, flags and
// values; zsh and fish at least read what is made for them, where they are installed.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { VERBS } from '../verbs/index.ts';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { completionModel } from './model.ts';
import { zshCompletion } from './zsh.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'ctl-completion-'));
after(() => rmSync(folder, { recursive: true }));
const model = completionModel(VERBS);

function script(name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

const bashFile = script('bash', bashCompletion(model));

/** Words as bash splits them; the last one is completed. */
function completions(...words: string[]): string[] {
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const output = execFileSync(
    'bash',
    [
      '--norc',
      '-c',
      `source "$1"; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _bigfleetctl; ` +
        `printf '%s\\n' "\${COMPREPLY[@]}"`,
      'bash',
      bashFile,
    ],
    { encoding: 'utf8' },
  );
  return output.split('\n').filter((line) => line !== '');
}

const cases: readonly (readonly [words: readonly string[], expected: readonly string[]])[] = [
  [
    ['bigfleetctl', 'list-sh'],
    ['list-shards', 'list-shard-reports'],
  ],
  [['bigfleetctl', 'sna'], ['snapshot']],
  [['bigfleetctl', 'config', 'use'], ['use-context']],
  [
    ['bigfleetctl', 'get', 'mach'],
    ['machines', 'machine'],
  ],
  [
    ['bigfleetctl', 'describe', 'shar'],
    ['shard', 'shards'],
  ],
  [
    ['bigfleetctl', 'completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['bigfleetctl', 'get', 'machines', '--sel'], ['--selector']],
  [['bigfleetctl', 'get', 'machines', '--out'], ['--output']],
  [
    ['bigfleetctl', 'get', 'machines', '-o', ''],
    ['table', 'wide', 'json', 'yaml'],
  ],
  [['bigfleetctl', 'get', 'machines', '--output', '=', 'js'], ['json']],
  [
    ['bigfleetctl', '--coordinator', 'host', 'get', 'tran'],
    ['transfers', 'transfer'],
  ],
  [['bigfleetctl', '--coordinator', '=', 'host', 'config', 'vi'], ['view']],
  [['bigfleetctl', 'get', 'machines', '--state', 'I'], ['Idle']],
];
for (const [words, expected] of cases) {
  test(`bash completes: ${words.slice(1).join(' ')}`, () => {
    assert.deepEqual(completions(...words), expected);
  });
}

test('bash knows every verb', () => {
  const firsts = [...new Set(VERBS.map(({ name }) => name.split(' ')[0]))];
  assert.deepEqual(completions('bigfleetctl', ''), [...firsts, 'help']);
});

for (const [shell, text] of [
  ['bash', bashCompletion(model)],
  ['zsh', zshCompletion(model)],
  ['fish', fishCompletion(model)],
] as const) {
  const isMissing = spawnSync(shell, ['--version']).error !== undefined;
  test(`${shell} reads its script`, { skip: isMissing && `${shell} is not installed` }, () => {
    const { status, stderr } = spawnSync(shell, ['-n', script(`${shell}-n`, text)], {
      encoding: 'utf8',
    });
    assert.deepEqual([status, stderr], [0, '']);
  });
}

const hasFish = spawnSync('fish', ['--version']).error === undefined;
test('fish completes the same', { skip: !hasFish && 'fish is not installed' }, () => {
  const file = script('fish', fishCompletion(model));
  const command = 'source $argv[1]; complete -C $argv[2]';
  for (const [words, expected] of cases) {
    // Where bash splits at `=`, fish keeps the flag with its value in one word.
    if (words.includes('=')) continue;
    const line = words.join(' ');
    const args = ['--no-config', '-c', command, file, line];
    const output = execFileSync('fish', args, { encoding: 'utf8' });
    const found = output.split('\n').map((each) => each.split('\t')[0]);
    for (const word of expected) assert.ok(found.includes(word), `${line}: ${found.join(' ')}`);
  }
});

test('zsh and fish scripts name every verb and flag', () => {
  for (const text of [zshCompletion(model), fishCompletion(model)]) {
    for (const { name, flags } of model.verbs) {
      for (const word of name.split(' ')) assert.ok(text.includes(word), word);
      for (const flag of flags) assert.ok(text.includes(flag.name), flag.name);
    }
  }
});
