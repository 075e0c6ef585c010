// Proves which words of the CRD become which numbers of the wire, and which are refused or dropped.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bucketOfPenalty, isInt32, readRequirements, readSpread } from './terms.ts';
import type { RawQuantity } from '@bigfleet/kube';

describe('readRequirements', () => {
  const numbers: [string, number][] = [
    ['In', 1],
    ['NotIn', 2],
    ['Exists', 3],
    ['DoesNotExist', 4],
  ];
  for (const [operator, number] of numbers) {
    it(`${operator} is ${number}`, () => {
      const result = readRequirements([{ key: 'k', operator, values: ['v'] }]);
      assert.deepEqual(result, {
        ok: true,
        value: [{ key: 'k', operator: number, values: ['v'] }],
      });
    });
  }

  for (const operator of ['Gt', 'Lt', 'Same', 'SAME', 'in', '', 'constructor']) {
    it(`refuses ${JSON.stringify(operator)}`, () => {
      const result = readRequirements([
        { key: 'zone', operator: 'In', values: ['a'] },
        { key: 'cores', operator, values: ['8'] },
      ]);
      assert.ok(!result.ok);
      assert.equal(result.error.reason, 'unsupported_operator');
      assert.match(result.error.problem, /requirements\["cores"\]/);
    });
  }
});

describe('readSpread', () => {
  it('keeps DoNotSchedule and drops ScheduleAnyway', () => {
    const result = readSpread([
      { topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
      { topologyKey: 'rack', maxSkew: 2, whenUnsatisfiable: 'ScheduleAnyway' },
    ]);
    const kept = [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 1 }];
    assert.deepEqual(result, { ok: true, value: kept });
  });

  const refused: [string, number, string, string][] = [
    ['a word that Kubernetes does not know', 1, 'Maybe', 'unsupported_operator'],
    ['a skew that the wire cannot carry', 2 ** 31, 'DoNotSchedule', 'bad_quantity'],
    ['a skew that is no integer', 1.5, 'DoNotSchedule', 'bad_quantity'],
  ];
  for (const [name, maxSkew, whenUnsatisfiable, reason] of refused) {
    it(`refuses ${name}`, () => {
      const result = readSpread([{ topologyKey: 'zone', maxSkew, whenUnsatisfiable }]);
      assert.ok(!result.ok);
      assert.equal(result.error.reason, reason);
    });
  }
});

describe('isInt32', () => {
  const cases: [number, boolean][] = [
    [0, true],
    [-(2 ** 31), true],
    [2 ** 31 - 1, true],
    [2 ** 31, false],
    [-(2 ** 31) - 1, false],
    [0.5, false],
    [Number.NaN, false],
    [Number.POSITIVE_INFINITY, false],
  ];
  for (const [value, expected] of cases) {
    it(`${value}: ${expected}`, () => assert.equal(isInt32(value), expected));
  }
});

// Proves the bucket table of kubernetes §3.3, its edges included.

describe('bucketOfPenalty', () => {
  const cases: [RawQuantity | undefined, number][] = [
    [undefined, 1],
    ['0', 1],
    [0, 1],
    ['-5', 1],
    ['1n', 2],
    ['250m', 2],
    ['500m', 2],
    ['0.5', 2],
    ['0.500000001', 3],
    ['510m', 3],
    ['1', 3],
    ['1.01', 4],
    ['2', 4],
    [3, 5],
    ['8000', 16],
    ['8k', 16],
    ['1048576', 23],
    ['1Mi', 23],
    ['8388608', 26],
    ['8388608.000000001', 27],
    ['20M', 27],
    ['1e30', 27],
  ];
  for (const [raw, bucket] of cases) {
    it(`${raw} → ${bucket}`, () => {
      assert.deepEqual(bucketOfPenalty('interruptionPenalty', raw), { ok: true, value: bucket });
    });
  }

  it('has every bound on its own side', () => {
    for (let exponent = 1; exponent <= 23; exponent++) {
      const bound = 2n ** BigInt(exponent);
      const at = bucketOfPenalty('reclamationPenalty', String(bound));
      const above = bucketOfPenalty('reclamationPenalty', `${bound}.000000001`);
      assert.deepEqual(at, { ok: true, value: 3 + exponent });
      assert.deepEqual(above, { ok: true, value: 4 + exponent });
    }
  });

  for (const raw of ['expensive', '', '$5', Number.NaN, Number.POSITIVE_INFINITY]) {
    it(`refuses ${raw}`, () => {
      const result = bucketOfPenalty('interruptionPenalty', raw);
      assert.ok(!result.ok);
      assert.equal(result.error.reason, 'bad_penalty');
      assert.match(result.error.problem, /^interruptionPenalty .* is no quantity$/);
    });
  }
});
