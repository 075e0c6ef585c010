// Proves that the worker's deep equality answers as node:assert does, on chosen and on generated
// pairs, and refuses what it cannot compare.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect, isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { isDeepEqual } from './deep-equal.ts';
import shim, { AssertionError } from './node-assert.ts';

class Point {
  readonly x: number;
  constructor(x: number) {
    this.x = x;
  }
}

test('chosen pairs, both ways', () => {
  const table: ReadonlyArray<readonly [a: unknown, b: unknown]> = [
    [0, -0],
    [Number.NaN, Number.NaN],
    [1, 1n],
    ['1', 1],
    [null, undefined],
    [{}, null],
    [{ a: undefined }, {}],
    [{ a: undefined }, { b: undefined }],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    [
      [1, 2],
      [2, 1],
    ],
    [Object.assign(new Array(3), { 0: 1, 2: 3 }), [1, undefined, 3]],
    [[], {}],
    [[1], { 0: 1 }],
    [new Array(2), new Array(3)],
    [new Point(1), new Point(1)],
    [new Point(1), { x: 1 }],
    [new Uint8Array([1, 2]), new Uint8Array([1, 2])],
    [new Uint8Array([1, 2]), new Uint8Array([1, 3])],
    [new Uint8Array([1]), new Int8Array([1])],
    [new Float64Array([0]), new Float64Array([-0])],
    [new Map([['a', { b: 1 }]]), new Map([['a', { b: 1 }]])],
    [new Map([['a', 1]]), new Map([['a', 2]])],
    [new Map([['a', undefined]]), new Map([['b', undefined]])],
    [
      new Map([
        ['a', 1],
        ['b', 2],
      ]),
      new Map([
        ['b', 2],
        ['a', 1],
      ]),
    ],
    [new Map(), new Set()],
    [new Set(['a', 'b']), new Set(['b', 'a'])],
    [new Set(['a']), new Set(['a', 'b'])],
    [new Set([1]), new Set([1n])],
    [{ __proto__: null, a: 1 }, { a: 1 }],
  ];
  for (const [a, b] of table) {
    for (const [left, right] of [[a, b] as const, [b, a] as const, [a, a] as const]) {
      const expected = isDeepStrictEqual(left, right);
      assert.equal(isDeepEqual(left, right), expected, inspect([left, right]));
      const check = (): void => shim.deepEqual(left, right);
      if (expected) check();
      else assert.throws(check, AssertionError);
    }
  }
});

/** Few keys and values, so that equal and nearly equal pairs are common. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(0, -0, 1, Number.NaN, 1n, 'a', '', undefined, null, true),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
    fc
      .array(fc.tuple(fc.constantFrom('a', 'b', 1), tie('value')), { maxLength: 3 })
      .map((entries) => new Map(entries)),
    fc.array(fc.constantFrom('a', 'b', 1), { maxLength: 3 }).map((members) => new Set(members)),
  ),
}));

test('generated pairs', () => {
  let equalCount = 0;
  fc.assert(
    fc.property(value, value, (a, b) => {
      assert.equal(isDeepEqual(a, b), isDeepStrictEqual(a, b));
      assert.ok(isDeepEqual(a, structuredClone(a)));
      if (isDeepStrictEqual(a, b)) equalCount += 1;
    }),
    { numRuns: 6_000 },
  );
  assert.ok(equalCount > 10, `only ${equalCount} of the pairs were equal`);
});

test('what it cannot compare is an error, never an answer', () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const other: { self?: unknown } = {};
  other.self = other;
  const table: ReadonlyArray<readonly [a: unknown, b: unknown]> = [
    [new Date(0), new Date(1)],
    [new Error('a'), new Error('b')],
    [/a/, /b/],
    [new Set([{}]), new Set([{}])],
    [new Map([[{}, 1]]), new Map([[{}, 1]])],
    [{ [Symbol.iterator]: 1 }, { [Symbol.iterator]: 2 }],
    [cycle, other],
  ];
  for (const [a, b] of table) assert.throws(() => isDeepEqual(a, b), /^Error: deep-equal: /);
});

test('the other assertions', () => {
  shim(1);
  shim.ok('a');
  shim.equal(Number.NaN, Number.NaN);
  shim.notEqual(0, -0);
  const failing: ReadonlyArray<() => void> = [
    () => shim(0),
    () => shim.ok('', 'said'),
    () => shim.equal(0, -0, 'said'),
    () => shim.notEqual(1, 1, 'said'),
    () => shim.deepEqual([1], [2], 'said'),
    () => shim.fail('said'),
  ];
  for (const check of failing) assert.throws(check, AssertionError);
  for (const check of failing.slice(1)) assert.throws(check, /said/);
});
