// Proves that ratios between shapes pull in their partners, land in `extra`, and carry their bar.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ratio } from './define-bench.ts';
import { applyRatios, ratioBars, withPartners } from './ratios.ts';
import { exampleResult } from './testing-result.ts';

const growth: Ratio = {
  of: 'engine/5m',
  over: 'engine/50k',
  metric: 'p50Ms',
  as: 'growth',
  bar: { max: 1.5 },
};
const slowdown: Ratio = {
  of: 'shard/loaded',
  over: 'engine/5m',
  metric: 'p99Ms',
  as: 'slowdown',
  bar: { max: 3 },
};

test('a shape brings its partners, and theirs', () => {
  const all = withPartners(new Set(['shard/loaded']), [growth, slowdown]);
  assert.deepEqual([...all].toSorted(), ['engine/50k', 'engine/5m', 'shard/loaded']);
  assert.deepEqual([...withPartners(new Set(['engine/50k']), [growth, slowdown])], ['engine/50k']);
});

test('the value is numerator over denominator, beside what extra held', () => {
  const [large, small] = applyRatios(
    [
      exampleResult('engine/5m', { p50Ms: 6, extra: { seed: 1 } }),
      exampleResult('engine/50k', { p50Ms: 4 }),
    ],
    [growth, slowdown],
  );
  assert.deepEqual(large?.extra, { seed: 1, growth: 1.5 });
  assert.deepEqual(small?.extra, {});
});

test('a missing partner leaves no value, so that the bar breaks', () => {
  const [alone] = applyRatios([exampleResult('engine/5m')], [growth]);
  assert.deepEqual(alone?.extra, {});
  assert.deepEqual(ratioBars('engine/5m', [growth, slowdown]), { 'extra.growth': { max: 1.5 } });
  assert.deepEqual(ratioBars('engine/50k', [growth, slowdown]), {});
});
