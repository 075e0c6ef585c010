// Proves the grammar of command lines: the ways to write a flag, and that whatever is not exactly
// one of them is refused with words that help.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Flag } from './flag.ts';
import {
  bytes,
  decimal,
  duration,
  oneOf,
  type Repeatable,
  text,
  texts,
  toggle,
  wholeNumber,
} from './forms.ts';
import { parseFlags } from './parse.ts';

type Table = {
  readonly name: Flag<string>;
  readonly many: Repeatable<string>;
  readonly on: Flag<boolean>;
  readonly 'long-name': Flag<boolean>;
  readonly count: Flag<number>;
  readonly share: Flag<number>;
  readonly wait: Flag<number>;
  readonly size: Flag<number>;
  readonly colour: Flag<'red' | 'blue'>;
};
const table: Table = {
  name: text('none', 'a name'),
  many: texts('several', '<x>'),
  on: toggle(false, 'a switch'),
  'long-name': toggle(true, 'another'),
  count: wholeNumber(3, 'a count', 100),
  share: decimal(0.5, 'a share', { min: 0, max: 1 }),
  wait: duration('10s', 'a wait'),
  size: bytes('512Mi', 'a size'),
  colour: oneOf('red', ['red', 'blue'], 'a colour'),
};

const good: readonly (readonly [readonly string[], keyof Table, unknown])[] = [
  [[], 'name', 'none'],
  [['--name=x=y'], 'name', 'x=y'],
  [['--name='], 'name', ''],
  [['--name', 'x'], 'name', 'x'],
  [['-name', 'x'], 'name', 'x'],
  [['--name', '--odd'], 'name', '--odd'],
  [[], 'many', []],
  [['--many=a', '--many', 'b'], 'many', ['a', 'b']],
  [['--on'], 'on', true],
  [['--on=true'], 'on', true],
  [['--on=false'], 'on', false],
  [['--on', '--name=x'], 'on', true],
  [['--long-name=0'], 'long-name', false],
  [['--count=100'], 'count', 100],
  [['--share=0.05'], 'share', 0.05],
  [['--share=1'], 'share', 1],
  [[], 'wait', 10_000],
  [['--wait=0'], 'wait', 0],
  [['--wait=1h30m'], 'wait', 5_400_000],
  [['--wait=1.5s'], 'wait', 1_500],
  [['--wait=250ms'], 'wait', 250],
  [[], 'size', 512 * 2 ** 20],
  [['--size=2G'], 'size', 2e9],
  [['--size=0'], 'size', 0],
  [['--colour=blue'], 'colour', 'blue'],
];
for (const [argv, name, expected] of good) {
  test(`${argv.join(' ') || '(nothing)'} makes ${name} ${JSON.stringify(expected)}`, () => {
    const parsed = parseFlags(table, argv);
    assert.ok(parsed.ok, parsed.ok ? '' : parsed.error);
    assert.deepEqual(parsed.value.values[name], expected);
    assert.equal(
      parsed.value.given.has(name),
      argv.some((each) => each.includes(name)),
    );
  });
}

const bad: readonly (readonly [readonly string[], RegExp])[] = [
  [['word'], /unexpected argument "word"/],
  [['--'], /unexpected argument/],
  [['--nam=x'], /unknown flag --nam; did you mean --name\?/],
  [['--elsewhere'], /unknown flag --elsewhere$/],
  [['--constructor=x'], /unknown flag/],
  [['--name'], /--name needs a value/],
  [['--name=a', '--name=b'], /--name is given twice/],
  [['--on=yes'], /--on=yes: write true or false/],
  [['--on', 'false'], /unexpected argument "false"/],
  [['--count=-1'], /whole number/],
  [['--count=101'], /from 0 to 100/],
  [['--count=1e1'], /whole number/],
  [['--count='], /whole number/],
  [['--share=1.1'], /from 0 to 1/],
  [['--share=NaN'], /number/],
  [['--wait=10'], /10s, 5m/],
  [['--wait=10s5'], /10s, 5m/],
  [['--wait=9999999h'], /10s, 5m/],
  [['--size=1Ti'], /512Mi/],
  [['--size=-1'], /512Mi/],
  [['--colour=green'], /one of red, blue/],
];
for (const [argv, problem] of bad) {
  test(`${argv.join(' ')} is refused: ${problem.source}`, () => {
    const parsed = parseFlags(table, argv);
    assert.ok(!parsed.ok);
    assert.match(parsed.error, problem);
  });
}
