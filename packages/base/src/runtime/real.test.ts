// Proves that the real runtime keeps the contract of Runtime where the platform would break it:
// never early, huge delays do not fire at once, cancel is final, bytes are fresh.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AssertionError } from '../assert.ts';
import { drainMicrotasks, realRuntime } from './real.ts';

test('a timer never fires early or synchronously', async () => {
  const { clock, timers } = realRuntime();
  for (const delayMs of [0, 0.4, 1.5, 3].concat(new Array<number>(30).fill(2))) {
    const startMs = clock.monotonicMs();
    let firedAtMs: number | undefined;
    timers.after(delayMs, () => {
      firedAtMs = clock.monotonicMs();
    });
    assert.equal(firedAtMs, undefined, 'fired synchronously');
    // On an event loop that never sleeps, the platform is early by up to a millisecond.
    while (firedAtMs === undefined) await timers.turn();
    const elapsedMs = firedAtMs - startMs;
    assert.ok(elapsedMs >= delayMs, `fired after ${elapsedMs} ms instead of ${delayMs}`);
  }
});

test('cancelled and far-away timers do not fire, nor does the platform complain', async () => {
  const { timers } = realRuntime();
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on('warning', onWarning);
  let fired = 0;
  const soon = timers.after(0, () => fired++);
  soon.cancel();
  soon.cancel();
  // Beyond 2^31 - 1 ms, where the platform would fire after one millisecond.
  const far = timers.after(2 ** 31 + 5, () => fired++);
  await new Promise<void>((resolve) => timers.after(5, resolve));
  assert.equal(fired, 0);
  far.cancel();
  process.off('warning', onWarning);
  assert.deepEqual(
    warnings.filter((w) => w.name === 'TimeoutOverflowWarning'),
    [],
  );
  for (const delayMs of [Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => timers.after(delayMs, () => {}), AssertionError);
  }
});

test('the wall clock is today and monotonic time does not go back', () => {
  const { clock } = realRuntime();
  assert.ok(clock.unixNanos() > 1_767_225_600_000_000_000n, 'later than the start of 2026');
  const first = clock.monotonicMs();
  assert.ok(clock.monotonicMs() >= first);
});

test('drainMicrotasks waits for microtasks that queue more microtasks', async () => {
  let hops = 0;
  const hop = async (): Promise<void> => {
    for (; hops < 1000; hops++) await Promise.resolve();
  };
  const hopping = hop();
  await drainMicrotasks();
  assert.equal(hops, 1000);
  await hopping;
});

test('a turn lets other work in', async () => {
  const { timers } = realRuntime();
  let settled = false;
  const other = Promise.resolve().then(() => {
    settled = true;
  });
  await timers.turn();
  assert.equal(settled, true);
  await other;
});

test('entropy fills any length, also beyond one platform request, and differs', () => {
  const { entropy } = realRuntime();
  assert.equal(entropy.bytes(0).length, 0);
  const large = entropy.bytes(200_000);
  assert.equal(large.length, 200_000);
  assert.ok(large.subarray(-64).some((byte) => byte !== 0));
  assert.notDeepEqual(entropy.bytes(16), entropy.bytes(16));
});

test('a given seed repeats, no seed does not', () => {
  const draw = (seed?: bigint): number[] => {
    const { random } = realRuntime(seed === undefined ? {} : { seed });
    return [random.uint32(), random.uint32(), random.uint32()];
  };
  assert.deepEqual(draw(5n), draw(5n));
  assert.notDeepEqual(draw(), draw());
});
