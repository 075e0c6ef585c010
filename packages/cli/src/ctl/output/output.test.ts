// Proves how values are printed: ages, money, control characters, tables and documents.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYaml } from '@bigfleet/process';
import { documentLine, documentText } from './document.ts';
import { plainStyle } from './style.ts';
import { tableLines } from './table.ts';
import { ageText, cleanText, dollarsText, durationText, secondsText, utcTime } from './text.ts';

test('durations have at most two neighbouring units', () => {
  const table: readonly (readonly [number, string])[] = [
    [-5, '0s'],
    [0, '0s'],
    [999, '0s'],
    [42_000, '42s'],
    [190_000, '3m10s'],
    [3_600_000, '1h'],
    [3_602_000, '1h'],
    [7_500_000, '2h5m'],
    [4 * 86_400_000 + 6 * 3_600_000, '4d6h'],
  ];
  for (const [ms, text] of table) assert.equal(durationText(ms), text);
  assert.equal(ageText(0n, 5n), '—');
});

test('parts of a second have three digits that say something', () => {
  const table: readonly (readonly [seconds: number, text: string])[] = [
    [0, '0ms'],
    [0.000_042, '0.042ms'],
    [0.001_234_5, '1.23ms'],
    [0.38, '380ms'],
    [0.999, '999ms'],
    [1, '1s'],
    [12.345, '12.3s'],
    [1_234, '1230s'],
  ];
  for (const [seconds, text] of table) assert.equal(secondsText(seconds), text);
});

test('times that are none stay none', () => {
  assert.equal(utcTime(0n), undefined);
  assert.equal(utcTime(-1n), undefined);
  assert.equal(utcTime(2n ** 63n - 1n), '2262-04-11T23:47:16Z');
});

test('dollars', () => {
  assert.deepEqual([0, 0.2, 1234.5, Number.POSITIVE_INFINITY].map(dollarsText), [
    '$0.00',
    '$0.20',
    '$1234.50',
    'never',
  ]);
});

test('control characters are spelled out', () => {
  assert.equal(cleanText('a\u001b[31m\r\n\u0085\u2028b→'), 'a\\x1b[31m\\x0d\\x0a\\x85\\u2028b→');
});

test('no line of a table ends in a space, and empty cells are dashes', () => {
  const columns = [
    { title: 'A', of: (row: readonly string[]) => row[0] ?? '' },
    { title: 'LONG', of: (row: readonly string[]) => row[1] ?? '' },
  ];
  const rows = [
    ['wide cell', ''],
    ['', 'x'],
  ];
  assert.deepEqual(tableLines(columns, rows, { form: 'table', style: plainStyle }), [
    'A          LONG',
    'wide cell  —',
    '—          x',
  ]);
});

test('documents keep 64-bit numbers, infinity and bytes readable', () => {
  const value = { big: 2n ** 63n, far: Infinity, map: new Map([['a', 1]]), gone: undefined };
  assert.equal(
    documentLine(value),
    '{"big":"9223372036854775808","far":"Infinity","map":{"a":1}}\n',
  );
  assert.deepEqual(parseYaml(documentText(value, 'yaml')), {
    ok: true,
    value: { big: '9223372036854775808', far: 'Infinity', map: { a: 1 } },
  });
});

test('YAML keeps text that looks like something else as text', () => {
  const value = { no: 'no', octal: '010', date: '2026-01-01', tilde: '~', colon: 'a: b' };
  assert.deepEqual(parseYaml(documentText(value, 'yaml')), { ok: true, value });
});

test('an alias bomb is an error', () => {
  const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x]'];
  for (let at = 1; at < 9; at++) {
    const before = `*a${at - 1}`;
    lines.push(`a${at}: &a${at} [${Array.from({ length: 9 }, () => before).join(',')}]`);
  }
  assert.equal(parseYaml(lines.join('\n')).ok, false);
});
