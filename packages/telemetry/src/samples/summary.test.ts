// Proves that quantiles are exact by nearest rank: each reported value was measured, and at least
// that share of samples does not exceed it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { summarise } from './summary.ts';

test('1 to 1,000', () => {
  const values = Float64Array.from({ length: 1_000 }, (_, at) => 1_000 - at);
  assert.deepEqual(summarise(values), {
    count: 1_000,
    p50Seconds: 500,
    p90Seconds: 900,
    p95Seconds: 950,
    p99Seconds: 990,
    p999Seconds: 999,
    maxSeconds: 1_000,
    sumSeconds: 500_500,
  });
  assert.equal(values[0], 1_000, 'the input stays as it is');
});

test('nothing measured has no summary; one sample is every quantile', () => {
  assert.equal(summarise(new Float64Array(0)), undefined);
  const one = summarise(Float64Array.of(0.127));
  assert.equal(one?.p50Seconds, 0.127);
  assert.equal(one?.p999Seconds, 0.127);
});

test('a quantile is the smallest sample that covers its share', () => {
  const seconds = fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 1 });
  fc.assert(
    fc.property(seconds, (values) => {
      const summary = summarise(Float64Array.from(values));
      assert.ok(summary !== undefined);
      const shares = [
        [0.5, summary.p50Seconds],
        [0.95, summary.p95Seconds],
        [0.99, summary.p99Seconds],
        [1, summary.maxSeconds],
      ] as const;
      for (const [share, quantile] of shares) {
        assert.ok(values.some((value) => value === quantile));
        const atMost = values.filter((value) => value <= quantile).length;
        const below = values.filter((value) => value < quantile).length;
        assert.ok(atMost >= share * values.length);
        assert.ok(below < share * values.length);
      }
    }),
  );
});
