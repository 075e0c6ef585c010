// Proves that durations follow the monotonic clock, ignore jumps of the wall clock, and reach the
// histogram and the raw samples alike.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { createRegistry } from './metrics/registry.ts';
import { scrapeFamilies } from './metrics/testing/scrape-families.ts';
import { createDurationRecorder, durationSeconds } from './timing.ts';

test('one observation, in buckets and raw, whatever the wall clock does', async () => {
  const virtual = createVirtualRuntime({ seed: 't', drain: drainMicrotasks });
  const registry = createRegistry();
  const histogram = registry.histogram({ name: 'a_seconds', help: 'a', bounds: [1, 2] });
  const raw: [number, number][] = [];
  const samples = {
    name: 'a',
    record: (startMs: number, seconds: number) => {
      raw.push([startMs, seconds]);
    },
  };
  const recorder = createDurationRecorder({ clock: virtual.runtime.clock, histogram, samples });
  await virtual.runFor(500);
  const startMs = recorder.start();
  await virtual.runFor(1_500);
  virtual.wallJump(-3_600_000);
  assert.equal(recorder.stop(startMs), 1.5);
  assert.equal(recorder.record(100, 350), 0.25);
  assert.deepEqual(raw, [
    [500, 1.5],
    [100, 0.25],
  ]);
  const values = (await scrapeFamilies(registry)).get('a_seconds')?.samples.map((s) => s.value);
  assert.deepEqual(values, [1, 2, 2, 1.75, 2]);
});

test('a duration below zero is a bug', () => {
  assert.equal(durationSeconds(5, 5), 0);
  assert.throws(() => durationSeconds(5, 4.999), { name: 'AssertionError' });
});
