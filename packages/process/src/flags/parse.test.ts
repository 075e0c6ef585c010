// Proves the grammar of command lines: the ways to write a flag, and that whatever is not exactly
// one of them is refused with words that help.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  bytes,
  decimal,
  duration,
  type Flag,
  formatDuration,
  oneOf,
  parseDuration,
  type Repeatable,
  text,
  texts,
  toggle,
  wholeNumber,
} from './flag.ts';
import { nearestName } from './nearest-name.ts';
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

test('what is printed of a duration is read back', () => {
  fc.assert(
    fc.property(fc.nat({ max: 30 * 24 * 3_600_000 }), (ms) => {
      assert.deepEqual(parseDuration(formatDuration(ms)), { ok: true, value: ms });
    }),
  );
  assert.equal(formatDuration(5_400_000), '1h30m');
});

test('spellings that are no duration', () => {
  for (const given of ['30', '', '-5m', '5 m', 'm', '5d', '1e3s', '99999999h', '5m extra']) {
    assert.equal(parseDuration(given).ok, false, given);
  }
});

test('the nearest name is a typo away, not another name', () => {
  const known = ['metrics-addr', 'reconcile-interval', 'on', 'off'];
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['metric-addr', 'metrics-addr'],
    ['reconcil-intervall', 'reconcile-interval'],
    ['reconcl-intervl', 'reconcile-interval'],
    ['ona', 'on'],
    ['x', undefined],
    ['elsewhere', undefined],
    ['', undefined],
    ['m'.repeat(65), undefined],
  ];
  for (const [given, expected] of cases) assert.equal(nearestName(known, given), expected, given);
});
