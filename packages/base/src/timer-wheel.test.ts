// Proves that the wheel fires like a naive sorted list of deadlines, never early and at most one
// tick late, behind a single underlying timer that is gone when nothing is pending.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AssertionError } from './assert.ts';
import { drainMicrotasks } from './runtime/real.ts';
import type { Runtime, Timer } from './runtime/runtime.ts';
import { createVirtualRuntime, type VirtualRuntime } from './runtime/virtual.ts';
import { TimerWheel } from './timer-wheel.ts';

const createVirtual = (): VirtualRuntime =>
  createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });

const delay = fc.oneof(
  fc.nat(5),
  fc.nat(130),
  fc.nat(10_000),
  fc.nat(50_000_000),
  fc.double({ min: 0, max: 100, noNaN: true }),
);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('arm' as const), delayMs: delay }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('cancel' as const), index: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: delay }) },
);

interface Modelled {
  readonly id: number;
  readonly dueTick: number;
  readonly timer: Timer;
  cancelled: boolean;
  firedAtMs: number | undefined;
}

test('any history of arming, cancelling and waiting fires like a sorted list', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.constantFrom(1, 10, 2.5),
      fc.constantFrom(0, 150),
      async (steps, tickMs, lateMs) => {
        const virtual = createVirtual();
        await virtual.runUntil(17.25);
        const startMs = virtual.nowMs;
        const wheel = new TimerWheel(lateRuntime(virtual, lateMs), { tickMs });
        const model: Modelled[] = [];
        const fired: number[] = [];
        for (const action of steps) {
          if (action.kind === 'arm') {
            const id = model.length;
            const dueTick = Math.ceil((virtual.nowMs - startMs + action.delayMs) / tickMs);
            const timer = wheel.after(action.delayMs, () => {
              fired.push(id);
              const entry = model[id];
              if (entry !== undefined) entry.firedAtMs = virtual.nowMs;
            });
            model.push({ id, dueTick, timer, cancelled: false, firedAtMs: undefined });
          } else if (action.kind === 'cancel') {
            const entry = model[action.index];
            entry?.timer.cancel();
            if (entry !== undefined && entry.firedAtMs === undefined) entry.cancelled = true;
          } else {
            await virtual.runFor(action.ms);
          }
          const pending = model.filter((e) => !e.cancelled && e.firedAtMs === undefined).length;
          assert.equal(wheel.size, pending);
          assert.ok(virtual.pendingTimers <= 1, 'one underlying timer');
          if (pending === 0) assert.equal(virtual.pendingTimers, 0, 'none when nothing is pending');
        }
        await virtual.runFor(60_000_000);
        checkFired(model, { startMs, tickMs, lateMs });
        const times = fired.map((id) => model[id]?.firedAtMs ?? -1);
        assert.deepEqual(
          times,
          times.toSorted((a, b) => a - b),
          'fires in order of time',
        );
        assert.equal(virtual.pendingTimers, 0);
      },
    ),
    { numRuns: 150 },
  );
});

/** Timers that fire up to `lateMs` late, as those of a busy event loop do. */
function lateRuntime(virtual: VirtualRuntime, lateMs: number): Pick<Runtime, 'clock' | 'timers'> {
  const { clock, timers, random } = virtual.runtime;
  return {
    clock,
    timers: {
      after: (delayMs, fire) => timers.after(delayMs + random.below(lateMs + 1), fire),
      turn: () => timers.turn(),
    },
  };
}

function checkFired(
  model: readonly Modelled[],
  limits: { readonly startMs: number; readonly tickMs: number; readonly lateMs: number },
): void {
  for (const entry of model) {
    if (entry.cancelled) assert.equal(entry.firedAtMs, undefined, 'cancelled yet fired');
    else {
      assert.ok(entry.firedAtMs !== undefined, `entry ${entry.id} never fired`);
      const dueMs = limits.startMs + entry.dueTick * limits.tickMs;
      const latestMs = dueMs + limits.tickMs + limits.lateMs;
      assert.ok(entry.firedAtMs >= dueMs - 1e-6, `${entry.id} fired early`);
      assert.ok(entry.firedAtMs <= latestMs + 1e-6, `${entry.id} fired late`);
    }
  }
}

test('within one tick entries fire in insertion order, through all levels', async () => {
  const virtual = createVirtual();
  const wheel = new TimerWheel(virtual.runtime, { tickMs: 1 });
  const fired: string[] = [];
  const dueMs = 64 ** 3 + 5;
  wheel.after(dueMs, () => fired.push('first'));
  await virtual.runUntil(64 ** 2);
  wheel.after(dueMs - virtual.nowMs, () => fired.push('second'));
  await virtual.runUntil(64 ** 3 + 1);
  wheel.after(dueMs - virtual.nowMs, () => fired.push('third'));
  await virtual.runUntil(dueMs - 1);
  assert.deepEqual(fired, []);
  await virtual.runUntil(dueMs);
  assert.deepEqual(fired, ['first', 'second', 'third']);
});

test('ten thousand deadlines cost few wake-ups', async () => {
  const virtual = createVirtual();
  const wheel = new TimerWheel(virtual.runtime, { tickMs: 100 });
  let fired = 0;
  for (let i = 0; i < 10_000; i++) wheel.after(30_000 + (i % 500), () => fired++);
  await virtual.runFor(60_000);
  assert.equal(fired, 10_000);
  assert.ok(virtual.firedEvents < 20, `${virtual.firedEvents} wake-ups`);
});

test('a deadline after a quiet time costs one wake-up', async () => {
  const virtual = createVirtual();
  const wheel = new TimerWheel(virtual.runtime, { tickMs: 1 });
  wheel.after(3_000_000, () => {});
  await virtual.runUntil(64 * 15_000);
  const before = virtual.firedEvents;
  wheel.after(50, () => {});
  await virtual.runFor(60);
  assert.equal(virtual.firedEvents - before, 1);
});

test('cancelling the last deadline releases the underlying timer', () => {
  const virtual = createVirtual();
  const wheel = new TimerWheel(virtual.runtime, { tickMs: 1 });
  const timers = [5, 500, 50_000].map((delayMs) => wheel.after(delayMs, () => {}));
  assert.equal(virtual.pendingTimers, 1);
  for (const timer of timers) timer.cancel();
  assert.equal(virtual.pendingTimers, 0);
  assert.equal(wheel.size, 0);
});

test('a callback may arm and cancel, and never runs in the call that arms it', async () => {
  const virtual = createVirtual();
  const wheel = new TimerWheel(virtual.runtime, { tickMs: 10 });
  const fired: string[] = [];
  const victim = wheel.after(20, () => fired.push('victim'));
  wheel.after(10, () => {
    fired.push('a');
    victim.cancel();
    wheel.after(0, () => fired.push('again'));
    assert.deepEqual(fired, ['a']);
  });
  await virtual.runUntil(10);
  assert.deepEqual(fired, ['a']);
  await virtual.runUntil(100);
  assert.deepEqual(fired, ['a', 'again']);
});

test('a callback of a wheel that is late arms without hiding what is overdue', async () => {
  const virtual = createVirtual();
  const { clock, timers } = virtual.runtime;
  const late = { ...timers, after: (ms: number, fire: () => void) => timers.after(ms + 500, fire) };
  const wheel = new TimerWheel({ clock, timers: late }, { tickMs: 10 });
  const fired: string[] = [];
  wheel.after(20, () => {
    fired.push('first');
    wheel.after(30, () => fired.push('armed late'));
  });
  // Overdue as well when the first one fires: in a later slot, and in a higher level.
  wheel.after(200, () => fired.push('second'));
  wheel.after(700, () => fired.push('third'));
  await virtual.runFor(5_000);
  assert.deepEqual(fired, ['first', 'second', 'armed late', 'third']);
  assert.equal(wheel.size, 0);
});

test('a throwing callback surfaces and strands nobody', async () => {
  const virtual = createVirtual();
  const wheel = new TimerWheel(virtual.runtime, { tickMs: 1 });
  let fired = 0;
  wheel.after(5, () => fired++);
  wheel.after(5, () => {
    throw new Error('boom');
  });
  wheel.after(5, () => fired++);
  wheel.after(500, () => fired++);
  await assert.rejects(virtual.runUntil(1000), /boom/);
  await virtual.runUntil(1000);
  assert.equal(fired, 3);
});

test('a wheel that starts at a fraction fires on time and never wakes for nothing', async () => {
  const virtual = createVirtualRuntime({
    seed: 1n,
    drain: drainMicrotasks,
    maxEventsPerInstant: 10,
  });
  // 1.065 + 3 − 1.065 rounds to less than 3.
  await virtual.runUntil(1.065);
  const wheel = new TimerWheel(virtual.runtime, { tickMs: 1 });
  let firedMs = 0;
  wheel.after(3, () => {
    firedMs = virtual.nowMs;
  });
  await virtual.runFor(10);
  assert.equal(firedMs, 1.065 + 3);
  assert.equal(virtual.firedEvents, 1);
});

test('misuse is a bug', () => {
  const { runtime } = createVirtual();
  for (const tickMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => new TimerWheel(runtime, { tickMs }), AssertionError);
  }
  const wheel = new TimerWheel(runtime, { tickMs: 1 });
  for (const delayMs of [Number.NaN, Number.POSITIVE_INFINITY, 64 ** 7]) {
    assert.throws(() => wheel.after(delayMs, () => {}), AssertionError);
  }
  assert.equal(wheel.size, 0);
});
