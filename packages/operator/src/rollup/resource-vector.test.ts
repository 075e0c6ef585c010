// Proves that request vectors are read and printed exactly, at any size, with fractions rounded up.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RawQuantity } from '@bigfleet/kube';
import { parseVector, printNanos, vectorKey } from './resource-vector.ts';

function parsed(resources: Readonly<Record<string, RawQuantity>>): [string, bigint][] {
  const result = parseVector(resources);
  assert.ok(result.ok, JSON.stringify(result));
  return [...result.value];
}

describe('parseVector', () => {
  const cases: [string, Record<string, RawQuantity>, [string, bigint][]][] = [
    ['nothing', {}, []],
    ['decimal', { cpu: '1.5' }, [['cpu', 1_500_000_000n]]],
    ['milli', { cpu: '250m' }, [['cpu', 250_000_000n]]],
    ['binary', { memory: '16Gi' }, [['memory', 17_179_869_184_000_000_000n]]],
    ['exponent', { memory: '1e3' }, [['memory', 1_000_000_000_000n]]],
    ['an integer of the schema', { 'nvidia.com/gpu': 8 }, [['nvidia.com/gpu', 8_000_000_000n]]],
    ['zero is absent', { cpu: '0', memory: '0Gi' }, []],
    ['less than a nano rounds up', { cpu: '0.0000000001' }, [['cpu', 1n]]],
    [
      'sorted by name',
      { b: '1', a: '2' },
      [
        ['a', 2_000_000_000n],
        ['b', 1_000_000_000n],
      ],
    ],
  ];
  for (const [name, resources, expected] of cases) {
    it(name, () => assert.deepEqual(parsed(resources), expected));
  }

  it('keeps hostile names', () => {
    const hostile = JSON.parse('{"__proto__":"1","constructor":"2"}') as Record<string, string>;
    assert.deepEqual(parsed(hostile), [
      ['__proto__', 1_000_000_000n],
      ['constructor', 2_000_000_000n],
    ]);
  });

  const refused: [string, RawQuantity, RegExp][] = [
    ['text', 'lots', /resources\["cpu"\] "lots" is no quantity/],
    ['empty', '', /is no quantity/],
    ['negative', '-1', /is negative/],
    ['not a number', Number.NaN, /is no quantity/],
    ['infinite', Number.POSITIVE_INFINITY, /is no quantity/],
    ['too long', '1'.repeat(1_000), /^resources\["cpu"\] "1{1,99}… is no quantity$/],
  ];
  for (const [name, raw, problem] of refused) {
    it(`refuses: ${name}`, () => {
      const result = parseVector({ memory: '1Gi', cpu: raw });
      assert.ok(!result.ok);
      assert.equal(result.error.reason, 'bad_quantity');
      assert.match(result.error.problem, problem);
    });
  }
});

describe('vectorKey', () => {
  it('is one for two spellings and differs for two values', () => {
    const key = (resources: Record<string, string>): string => {
      const result = parseVector(resources);
      assert.ok(result.ok);
      return vectorKey(result.value);
    };
    assert.equal(key({ memory: '16Gi', cpu: '1000m' }), key({ cpu: '1', memory: '17179869184' }));
    assert.notEqual(key({ cpu: '1' }), key({ cpu: '1001m' }));
    assert.notEqual(key({ 'a","b': '1' }), key({ a: '1', b: '1' }));
  });
});

describe('printNanos', () => {
  const cases: [bigint, string][] = [
    [0n, '0'],
    [1_000_000_000n, '1'],
    [1_500_000_000n, '1500m'],
    [1n, '1m'],
    [1_000_000_001n, '1001m'],
    [999_000_001n, '1'],
    // 100,000 × 768 Gi: past 2⁵³.
    [100_000n * 768n * 1_024n ** 3n * 1_000_000_000n, '82463372083200000'],
    [10n ** 45n, `1${'0'.repeat(36)}`],
  ];
  for (const [nanos, expected] of cases) {
    it(`${nanos} n → ${expected}`, () => assert.equal(printNanos(nanos), expected));
  }
});
