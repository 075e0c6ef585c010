// Proves the bounds of the pool, its turn-taking between kinds, and that the keyed lane on top of it
// runs one handler per key, newest frame last, with none lost.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { KeyedLane } from './lanes.ts';
import { Supervisor } from './supervisor.ts';
import { type WorkKind, WorkPool } from './work-pool.ts';

function open(concurrency: number, queueCapacity = 100): { pool: WorkPool; running: number[] } {
  const running: number[] = [];
  const supervisor = new Supervisor();
  const onRunning = (count: number): void => {
    running.push(count);
  };
  return { pool: new WorkPool({ concurrency, queueCapacity, supervisor, onRunning }), running };
}

function virtual(): VirtualRuntime {
  return createVirtualRuntime({ seed: 'lanes', drain: drainMicrotasks });
}

/** Lets everything that is ready run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

describe('WorkPool', () => {
  it('runs so many at once, and counts them', async () => {
    const { pool, running } = open(2);
    const finish: (() => void)[] = [];
    for (let n = 0; n < 5; n++) {
      pool.submit('node_state', () => new Promise((resolve) => finish.push(resolve)));
    }
    assert.equal(finish.length, 2);
    for (const end of finish) end();
    await settle();
    assert.equal(finish.length, 4);
    assert.equal(Math.max(...running), 2);
  });

  it('serves the kinds in turn', async () => {
    const { pool } = open(1);
    const order: string[] = [];
    let release: () => void = () => {};
    pool.submit('node_state', () => new Promise((resolve) => (release = resolve)));
    const kinds: WorkKind[] = ['node_state', 'node_state', 'node_state', 'reclaim', 'reclaim'];
    for (const kind of [...kinds, 'available_capacity' as const]) {
      pool.submit(kind, async () => {
        order.push(kind);
      });
    }
    release();
    await settle();
    assert.deepEqual(order.slice(0, 4), ['available_capacity', 'reclaim', 'node_state', 'reclaim']);
    assert.equal(order.length, 6);
  });

  it('refuses beyond its queue and after its end', async () => {
    const { pool } = open(1, 2);
    const never = (): Promise<void> => new Promise(() => {});
    assert.equal(pool.submit('reclaim', never), 'queued');
    assert.equal(pool.submit('reclaim', never), 'queued');
    assert.equal(pool.submit('reclaim', never), 'queued');
    assert.equal(pool.submit('reclaim', never), 'refused');
    assert.equal(pool.submit('node_state', never), 'queued');
    pool.close();
    assert.equal(pool.submit('node_state', never), 'refused');
  });
});

describe('Supervisor', () => {
  it('keeps the first bug', async () => {
    const supervisor = new Supervisor();
    supervisor.watch(Promise.reject(new Error('first')));
    supervisor.watch(Promise.reject(new Error('second')));
    await supervisor.settled();
    assert.match(String(supervisor.signal.reason), /first/);
  });
});

describe('KeyedLane', () => {
  it('applies the newest frame of every key last, one at a time per key', async () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      finish: fc.nat({ max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { pool } = open(2);
        const running = new Map<string, () => void>();
        const applied = new Map<string, number>();
        const lane = new KeyedLane<{ key: string; value: number }>({
          kind: 'node_state',
          runtime: virtual().runtime,
          pool,
          maxKeys: 10,
          handle: ({ key, value }) => {
            assert.ok(!running.has(key), 'two handlers of one key');
            assert.ok(value > (applied.get(key) ?? -1), 'out of order');
            applied.set(key, value);
            return new Promise((resolve) => running.set(key, () => resolve('done')));
          },
        });
        const finishOne = async (): Promise<void> => {
          const [entry] = running;
          if (entry === undefined) return;
          running.delete(entry[0]);
          entry[1]();
          await settle();
        };
        const newest = new Map<string, number>();
        for (const [value, { key, finish }] of steps.entries()) {
          newest.set(key, value);
          assert.equal(lane.push(key, { key, value }), 'accepted');
          for (let n = 0; n < finish; n++) await finishOne();
        }
        await settle();
        while (running.size > 0) await finishOne();
        assert.deepEqual(applied, newest);
      }),
      { numRuns: 200 },
    );
  });

  /** A lane on a pool of one, whose handler fails as often as told. */
  function failing(failures: number) {
    const time = virtual();
    const { pool } = open(1);
    const handled: [value: string, atMs: number][] = [];
    const lane = new KeyedLane<{ value: string }>({
      kind: 'node_state',
      runtime: time.runtime,
      pool,
      maxKeys: 10,
      handle: async ({ value }) => {
        handled.push([value, time.nowMs]);
        await settle();
        return handled.length <= failures ? 'failed' : 'done';
      },
    });
    return { time, pool, lane, handled };
  }

  it('tries a frame that failed again, later and later, and holds no place in the pool meanwhile', async () => {
    const { time, pool, lane, handled } = failing(9);
    lane.push('a', { value: 'a1' });
    await time.runFor(1);
    let others = 0;
    pool.submit('node_state', async () => {
      others++;
    });
    await time.runFor(1);
    assert.deepEqual([handled.length, others], [1, 1]);
    await time.runFor(300_000);
    const times = handled.map(([, atMs]) => atMs);
    const pauses = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0));
    const ceilings = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000];
    assert.equal(pauses.length, ceilings.length);
    for (const [index, ceiling] of ceilings.entries()) {
      const pause = pauses[index] ?? 0;
      assert.ok(pause >= ceiling / 2 && pause <= ceiling + 1, `${index}: ${pause}`);
    }
    assert.equal(time.pendingTimers, 0);
  });

  it('applies a newer frame at once, and the one that failed never again', async () => {
    const { time, lane, handled } = failing(8);
    lane.push('a', { value: 'a1' });
    await time.runFor(20_000);
    const count = handled.length;
    lane.push('a', { value: 'a2' });
    await time.runFor(1);
    assert.deepEqual(handled.at(-1)?.[0], 'a2');
    assert.equal(handled.length, count + 1);
    await time.runFor(300_000);
    assert.ok(handled.slice(count).every(([value]) => value === 'a2'));
    assert.equal(time.pendingTimers, 0);
  });

  it('tries nothing again that was forgotten, whether it waited or ran', async () => {
    for (const waitMs of [0, 100]) {
      const { time, lane, handled } = failing(5);
      lane.push('a', { value: 'a1' });
      if (waitMs > 0) await time.runFor(waitMs);
      await lane.forgetPending();
      assert.equal(time.pendingTimers, 0);
      await time.runFor(100_000);
      assert.equal(handled.length, 1);
      assert.equal(lane.push('a', { value: 'a2' }), 'accepted');
      await time.runFor(1);
      assert.deepEqual(handled.at(-1)?.[0], 'a2');
    }
  });
});
