// Proves the bucket table of kubernetes §3.3, its edges included.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RawQuantity } from './capacity-request.ts';
import { bucketOfPenalty } from './penalty.ts';

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
