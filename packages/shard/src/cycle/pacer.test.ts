// Proves when cycles run: at once, every interval, woken once however often, spaced, never two at
// once, and none after stop.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { CYCLE_INTERVAL_MS, MIN_SPACING_MS, Pacer } from './pacer.ts';

interface Stage {
  readonly starts: number[];
  readonly errors: unknown[];
  readonly pacer: Pacer;
  readonly virtual: VirtualRuntime;
}

function stage(tookMs = 0, failAt = -1): Stage {
  const virtual = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
  const { runtime } = virtual;
  const starts: number[] = [];
  const errors: unknown[] = [];
  let open = 0;
  const pacer = new Pacer({
    runtime,
    run: async () => {
      assert.equal(open++, 0, 'two cycles at once');
      starts.push(runtime.clock.monotonicMs());
      if (tookMs > 0) await new Promise<void>((done) => runtime.timers.after(tookMs, done));
      open--;
      if (starts.length === failAt) throw new Error('a bug');
    },
    onError: (error) => errors.push(error),
  });
  return { starts, errors, pacer, virtual };
}

const spacings = (starts: readonly number[]): number[] =>
  starts.slice(1).map((at, index) => at - (starts[index] ?? 0));

test('the first cycle at once, then one per interval', async () => {
  const { starts, pacer, virtual } = stage();
  pacer.start();
  await virtual.runFor(3 * CYCLE_INTERVAL_MS + 1);
  assert.equal(starts.length, 4);
  assert.deepEqual(spacings(starts), [CYCLE_INTERVAL_MS, CYCLE_INTERVAL_MS, CYCLE_INTERVAL_MS]);
  await pacer.stop();
});

test('any number of wakes during a cycle give exactly one more', async () => {
  const { starts, pacer, virtual } = stage(500);
  pacer.start();
  await virtual.runFor(10);
  for (let wake = 0; wake < 50; wake++) pacer.wake();
  await virtual.runFor(2_000);
  assert.equal(starts.length, 2);
  await pacer.stop();
});

test('wakes never bring two starts closer than the spacing', async () => {
  const { starts, pacer, virtual } = stage();
  pacer.start();
  for (let step = 0; step < 100; step++) {
    pacer.wake();
    await virtual.runFor(7);
  }
  assert.ok(starts.length >= 6, `${starts.length} cycles`);
  for (const spacing of spacings(starts)) assert.ok(spacing >= MIN_SPACING_MS, `${spacing}`);
  await pacer.stop();
});

test('a cycle that throws is reported, and the next one runs', async () => {
  const { starts, errors, pacer, virtual } = stage(0, 1);
  pacer.start();
  await virtual.runFor(CYCLE_INTERVAL_MS + 1);
  assert.equal(errors.length, 1);
  assert.equal(starts.length, 2);
  await pacer.stop();
});

test('stop waits for the cycle that runs, and nothing runs after it', async () => {
  const { starts, pacer, virtual } = stage(500);
  pacer.start();
  await virtual.runFor(10);
  let isStopped = false;
  const stopped = pacer.stop().then(() => (isStopped = true));
  await virtual.runFor(100);
  assert.equal(isStopped, false);
  await virtual.runFor(1_000);
  await stopped;
  pacer.wake();
  await virtual.runFor(5 * CYCLE_INTERVAL_MS);
  assert.equal(starts.length, 1);
});
