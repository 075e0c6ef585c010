// Proves the laws of resource vectors: rounding that never invents capacity, saturation, and one
// value for every spelling of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  add,
  contributes,
  covers,
  isZero,
  max,
  noResources,
  parseResources,
  printResources,
  type Resources,
  resourcesKey,
  saturatingAdd,
  subtract,
} from './resources.ts';

const seed = Number(process.env['BIGFLEET_SEED'] ?? 1);
const runs = { seed, numRuns: 1000 };
const MAX = Number.MAX_SAFE_INTEGER;

const quanta = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constantFrom(2 ** 43, MAX - 1, MAX));
const vector: fc.Arbitrary<Resources> = fc
  .uniqueArray(fc.tuple(fc.constantFrom('cpu', 'memory', 'gpu'), quanta), {
    selector: ([name]) => name,
  })
  .map((entries) => new Map(entries));

function parse(quantities: Readonly<Record<string, string>>, rounding: 'demand' | 'allocatable') {
  return parseResources(new Map(Object.entries(quantities)), rounding);
}

function parsed(quantities: Readonly<Record<string, string>>): Resources {
  const result = parse(quantities, 'demand');
  assert.ok(result.ok);
  return result.value;
}

test('two spellings of one value are one value', () => {
  const spellings = ['16Gi', '17179869184', '16384Mi', '16777216Ki', '17179869184000m'];
  for (const memory of spellings) {
    assert.deepEqual(parsed({ memory }), new Map([['memory', 16 * 1024 * 1024]]), memory);
    assert.equal(resourcesKey(parsed({ memory })), resourcesKey(parsed({ memory: '16Gi' })));
  }
  assert.deepEqual(parsed({ cpu: '1' }), parsed({ cpu: '1000m' }));
});

test('demand rounds up and allocatable rounds down', () => {
  const demand = parse({ cpu: '100.5m', memory: '1', gpu: '1n' }, 'demand');
  const supply = parse({ cpu: '100.5m', memory: '1025', gpu: '1n' }, 'allocatable');
  assert.ok(demand.ok && supply.ok);
  assert.deepEqual(Object.fromEntries(demand.value), { cpu: 101, memory: 1, gpu: 1 });
  assert.deepEqual(Object.fromEntries(supply.value), { cpu: 100, memory: 1 });
});

test('zero is absent, garbage and negatives are refused whole', () => {
  assert.deepEqual(parsed({ cpu: '0', memory: '0Gi' }), noResources);
  for (const bad of ['', 'x', '-1', '1 Gi', 'NaN', 'Infinity', '1K', '0x10']) {
    assert.equal(parse({ cpu: '1', memory: bad }, 'demand').ok, false, bad);
  }
});

test('memory above 8 TiB and beyond stays exact until it saturates', () => {
  assert.equal(parsed({ memory: '8Ti' }).get('memory'), 2 ** 33);
  assert.equal(parsed({ memory: '9007199254740993Ki' }).get('memory'), MAX);
  assert.equal(parsed({ memory: '8Pi' }).get('memory'), 2 ** 43);
  assert.equal(parsed({ cpu: '1e30' }).get('cpu'), MAX);
});

test('printing is canonical and sorted by name', () => {
  const printed = printResources(parsed({ memory: '17179869184', 'a/b': '3', cpu: '1500m' }));
  const expected = [
    ['a/b', '3'],
    ['cpu', '1500m'],
    ['memory', '16Gi'],
  ];
  assert.deepEqual([...printed], expected);
});

test(`printing and parsing round-trip (seed ${seed})`, () => {
  fc.assert(
    fc.property(vector, (a) => {
      const again = parseResources(printResources(a), 'demand');
      assert.ok(again.ok);
      assert.equal(resourcesKey(again.value), resourcesKey(a));
    }),
    runs,
  );
});

test(`laws of add, max, subtract and covers (seed ${seed})`, () => {
  const equal = (a: Resources, b: Resources): void =>
    assert.equal(resourcesKey(a), resourcesKey(b));
  fc.assert(
    fc.property(vector, vector, vector, (a, b, c) => {
      equal(add(a, b), add(b, a));
      equal(add(add(a, b), c), add(a, add(b, c)));
      equal(add(a, noResources), a);
      equal(max(a, b), max(b, a));
      equal(max(a, a), a);
      assert.ok(covers(max(a, b), a) && covers(add(a, b), a));
      assert.equal(covers(a, b), isZero(subtract(b, a)));
      assert.equal(contributes(a, b), resourcesKey(subtract(b, a)) !== resourcesKey(b));
      equal(subtract(a, noResources), a);
      equal(subtract(a, a), noResources);
      if (covers(a, b) && covers(b, c)) assert.ok(covers(a, c));
      for (const value of [...add(a, b).values(), ...subtract(a, b).values()]) {
        assert.ok(Number.isSafeInteger(value) && value > 0);
      }
    }),
    runs,
  );
});

test('operations leave their arguments alone', () => {
  const a = new Map([['cpu', 2]]);
  const b = new Map([['cpu', 1]]);
  add(a, b);
  max(a, b);
  subtract(a, b);
  assert.deepEqual([a.get('cpu'), b.get('cpu')], [2, 1]);
});

test('sums saturate instead of losing integers', () => {
  assert.equal(saturatingAdd(MAX, MAX), MAX);
  assert.equal(saturatingAdd(MAX, 1), MAX);
  assert.equal(saturatingAdd(MAX - 1, 1), MAX);
  assert.equal(add(new Map([['cpu', MAX]]), new Map([['cpu', 1]])).get('cpu'), MAX);
});

test('extra dimensions of the supply do not matter, missing ones do', () => {
  const cpu = new Map([['cpu', 1]]);
  const both = new Map([
    ['cpu', 1],
    ['gpu', 1],
  ]);
  assert.ok(covers(both, cpu));
  assert.ok(!covers(cpu, both));
  assert.ok(covers(noResources, noResources));
});

test('a key names every dimension, in one order, whatever the names hold', () => {
  const a = new Map([
    ['cpu', 1],
    ['memory', 2],
  ]);
  const b = new Map([
    ['memory', 2],
    ['cpu', 1],
  ]);
  assert.equal(resourcesKey(a), resourcesKey(b));
  const hostile = ['a=1,b', 'a', 'b', '', '%3D', '=', ',', '\ud800', '\udfff', '😀', '__proto__'];
  const keys = hostile.flatMap((name) => [
    resourcesKey(new Map([[name, 1]])),
    resourcesKey(
      new Map([
        [name, 1],
        ['z', 2],
      ]),
    ),
  ]);
  assert.equal(new Set(keys).size, keys.length);
});
