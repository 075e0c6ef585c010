// Proves that virtual time fires events in (time, insertion) order with all microtasks finished
// in between, replays from its seed, and neither leaks cancelled timers nor hides failures.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AssertionError } from '../assert.ts';
import { drainMicrotasks } from './real.ts';
import type { Timer } from './runtime.ts';
import { createVirtualRuntime, type VirtualRuntime } from './virtual.ts';

const create = (seed: bigint | string = 1n): VirtualRuntime =>
  createVirtualRuntime({ seed, drain: drainMicrotasks });

test('events fire by time, then by insertion', async () => {
  const virtual = create();
  const log: string[] = [];
  const { timers, clock } = virtual.runtime;
  for (const [delayMs, name] of [
    [20, 'late'],
    [10, 'first'],
    [10, 'second'],
    [0, 'now'],
    [-5, 'overdue'],
  ] as const) {
    timers.after(delayMs, () => log.push(`${name}@${clock.monotonicMs()}`));
  }
  assert.deepEqual(log, [], 'nothing fires synchronously');
  await virtual.runUntil(15);
  assert.deepEqual(log, ['now@0', 'overdue@0', 'first@10', 'second@10']);
  assert.equal(virtual.nowMs, 15);
  await virtual.runFor(5);
  assert.deepEqual(log.at(-1), 'late@20');
  assert.equal(virtual.firedEvents, 5);
});

test('every microtask finishes before the next event', async () => {
  const virtual = create();
  const log: string[] = [];
  const chain = async (name: string): Promise<void> => {
    for (let hop = 0; hop < 50; hop++) await Promise.resolve();
    log.push(name);
  };
  virtual.runtime.timers.after(1, () => void chain('a settled'));
  virtual.runtime.timers.after(1, () => void log.push('b fired'));
  await virtual.runUntil(1);
  assert.deepEqual(log, ['a settled', 'b fired']);
});

test('work started before the run, and timers armed by timers, are reached', async () => {
  const virtual = create();
  let finishedAtMs = -1;
  const { timers, clock } = virtual.runtime;
  const work = async (): Promise<void> => {
    await Promise.resolve();
    await new Promise<void>((resolve) => timers.after(5, resolve));
    await timers.turn();
    await new Promise<void>((resolve) => timers.after(5, resolve));
    finishedAtMs = clock.monotonicMs();
  };
  const working = work();
  await virtual.runUntil(10);
  await working;
  assert.equal(finishedAtMs, 10);
});

test('cancelled timers leave at once and do not fire', async () => {
  const virtual = create();
  let fired = 0;
  const timers = Array.from({ length: 1000 }, (_, i) =>
    virtual.runtime.timers.after(i % 7, () => fired++),
  );
  for (const timer of timers) timer.cancel();
  assert.equal(virtual.pendingTimers, 0);
  for (const timer of timers) timer.cancel();
  await virtual.runUntil(100);
  assert.equal(fired, 0);
});

test('a timer can cancel another that is due at the same instant', async () => {
  const virtual = create();
  let fired = false;
  virtual.runtime.timers.after(1, () => victim.cancel());
  const victim = virtual.runtime.timers.after(1, () => {
    fired = true;
  });
  await virtual.runUntil(2);
  assert.equal(fired, false);
});

test('order survives a cancellation that moves a small event under a large one', async () => {
  const virtual = create();
  const fired: number[] = [];
  const arm = (delayMs: number): Timer =>
    virtual.runtime.timers.after(delayMs, () => fired.push(delayMs));
  // As a heap: 10, 11 and 12 on the left, 2, 3 and 4 on the right, and 4 the last leaf.
  const timers = [1, 10, 2, 11, 12, 3, 4].map(arm);
  timers[3]?.cancel();
  [13, 14].forEach(arm);
  await virtual.runUntil(20);
  assert.deepEqual(fired, [1, 2, 3, 4, 10, 12, 13, 14]);
});

test('any mix of timers and cancellations fires like a sorted list', async () => {
  const operation = fc.record({ delayMs: fc.nat(30), cancel: fc.option(fc.nat(200)) });
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 200 }), async (operations) => {
      const virtual = create();
      const fired: number[] = [];
      const model: { id: number; delayMs: number; cancelled: boolean }[] = [];
      const timers = operations.map(({ delayMs, cancel }, id) => {
        model.push({ id, delayMs, cancelled: false });
        const timer = virtual.runtime.timers.after(delayMs, () => fired.push(id));
        return { timer, cancel };
      });
      for (const { cancel } of timers) {
        if (cancel === null || cancel >= timers.length) continue;
        timers[cancel]?.timer.cancel();
        const modelled = model[cancel];
        if (modelled !== undefined) modelled.cancelled = true;
      }
      await virtual.runUntil(30);
      const expected = model.filter((timer) => !timer.cancelled);
      expected.sort((a, b) => a.delayMs - b.delayMs || a.id - b.id);
      assert.deepEqual(
        fired,
        expected.map((timer) => timer.id),
      );
    }),
    { numRuns: 60 },
  );
});

test('runUntilIdle says which bound stopped it', async () => {
  const virtual = create();
  const tick = (): void => void virtual.runtime.timers.after(10, tick);
  tick();
  assert.deepEqual(await virtual.runUntilIdle({ maxEvents: 3, maxMs: 1000 }), {
    stopped: 'max_events',
    eventCount: 3,
  });
  assert.deepEqual(await virtual.runUntilIdle({ maxEvents: 100, maxMs: 25 }), {
    stopped: 'max_ms',
    eventCount: 2,
  });
  const quiet = create();
  quiet.runtime.timers.after(7, () => {});
  assert.deepEqual(await quiet.runUntilIdle({ maxEvents: 100, maxMs: 25 }), {
    stopped: 'idle',
    eventCount: 1,
  });
  assert.equal(quiet.nowMs, 7);
});

test('an exception of a callback surfaces from the run, and the run can go on', async () => {
  const virtual = create();
  let later = false;
  virtual.runtime.timers.after(1, () => {
    throw new Error('boom');
  });
  virtual.runtime.timers.after(2, () => {
    later = true;
  });
  await assert.rejects(virtual.runUntil(5), /boom/);
  await virtual.runUntil(5);
  assert.equal(later, true);
});

test('misuse is a bug: going back, running twice at once, endless instants, bad delays', async () => {
  const virtual = createVirtualRuntime({
    seed: 1n,
    drain: drainMicrotasks,
    maxEventsPerInstant: 100,
  });
  await virtual.runUntil(10);
  await assert.rejects(virtual.runUntil(9), AssertionError);
  const running = virtual.runFor(1);
  await assert.rejects(virtual.runFor(1), /already running/);
  await running;
  const spin = (): void => void virtual.runtime.timers.after(0, spin);
  spin();
  await assert.rejects(virtual.runFor(1), /does not advance/);
  for (const delayMs of [Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => virtual.runtime.timers.after(delayMs, () => {}), AssertionError);
  }
});

test('the bound on one instant does not bound a long run', async () => {
  const virtual = createVirtualRuntime({
    seed: 1n,
    drain: drainMicrotasks,
    maxEventsPerInstant: 3,
  });
  for (let i = 0; i < 100; i++) virtual.runtime.timers.after(Math.floor(i / 3), () => {});
  await virtual.runUntil(50);
  assert.equal(virtual.firedEvents, 100);
});

test('the wall clock follows virtual time, jumps alone, and stays exact for years', async () => {
  const virtual = createVirtualRuntime({
    seed: 1n,
    drain: drainMicrotasks,
    startUnixNanos: 5_000n,
  });
  const { clock } = virtual.runtime;
  await virtual.runUntil(1.5);
  assert.equal(clock.unixNanos(), 1_505_000n);
  virtual.wallJump(-1);
  assert.equal(clock.unixNanos(), 505_000n);
  assert.equal(clock.monotonicMs(), 1.5);
  const tenYearsMs = 10 * 365 * 86_400_000;
  await virtual.runUntil(tenYearsMs + 1);
  assert.equal(clock.unixNanos(), BigInt(tenYearsMs) * 1_000_000n + 5_000n);
});

test('one seed gives one history, another seed another', async () => {
  const history = async (seed: bigint): Promise<string> => {
    const virtual = create(seed);
    const log: string[] = [];
    for (let component = 0; component < 5; component++) {
      const { random, timers, clock, entropy } = virtual.runtimeFor(`component-${component}`);
      const step = (left: number): void => {
        log.push(`${component}@${clock.monotonicMs()}:${entropy.bytes(4).join('.')}`);
        if (left > 0) timers.after(random.below(50), () => step(left - 1));
      };
      step(20);
    }
    await virtual.runUntilIdle({ maxEvents: 1000, maxMs: 10_000 });
    return log.join('\n');
  };
  assert.equal(await history(7n), await history(7n));
  assert.notEqual(await history(7n), await history(8n));
});

test('components do not shift each other’s randomness', () => {
  const alone = create(3n).runtimeFor('a');
  const world = create(3n);
  world.runtimeFor('b').random.uint32();
  world.runtime.random.uint32();
  const together = world.runtimeFor('a');
  assert.equal(together.random.uint32(), alone.random.uint32());
  assert.deepEqual(together.entropy.bytes(16), alone.entropy.bytes(16));
});
