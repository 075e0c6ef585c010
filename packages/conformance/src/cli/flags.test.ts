// Proves that the command line is read as users of the reference program write it, and that
// nothing mistyped is taken for something else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FLAGS, parseFlags } from './flags.ts';
import { helpText } from './help.ts';

test('-x, --x, = and blank are the same', () => {
  const spellings = [['-target', 'h:1'], ['--target', 'h:1'], ['-target=h:1'], ['--target=h:1']];
  for (const argv of spellings) {
    const parsed = parseFlags(argv);
    assert.deepEqual(parsed, { ok: true, value: new Map([['target', 'h:1']]) });
  }
});

test('switches need no value, values may hold anything', () => {
  const argv = [
    '-skip-baseline',
    '--list=false',
    '-start-cmd',
    'a --addr={addr} -x=y',
    '-out=a=b\nc',
  ];
  const parsed = parseFlags(argv);
  assert.ok(parsed.ok);
  assert.deepEqual(Object.fromEntries(parsed.value), {
    'skip-baseline': 'true',
    list: 'false',
    'start-cmd': 'a --addr={addr} -x=y',
    out: 'a=b\nc',
  });
});

const wrong: [readonly string[], RegExp][] = [
  [['-targt', 'x'], /^unknown flag -targt: did you mean -target\?$/],
  [['--nonsense'], /^unknown flag -nonsense$/],
  [['target'], /^unexpected argument "target"$/],
  [['-'], /^unexpected argument "-"$/],
  [['---target=x'], /^unexpected argument "---target=x"$/],
  [[''], /^unexpected argument ""$/],
  [['-target'], /^-target needs a value$/],
  [['-target='], /^-target needs a value$/],
  [['-list=yes'], /^-list takes no value$/],
  [['-skip-baseline', 'true'], /^unexpected argument "true"$/],
  [['-seed', '1', '--seed=2'], /^-seed is given twice$/],
];

for (const [argv, problem] of wrong) {
  test(`${JSON.stringify(argv)} is refused`, () => {
    const parsed = parseFlags(argv);
    assert.ok(!parsed.ok);
    assert.match(parsed.error, problem);
  });
}

test('-help names every flag', () => {
  const text = helpText();
  for (const name of Object.keys(FLAGS)) assert.match(text, new RegExp(`^  -${name}( |$)`, 'm'));
});
