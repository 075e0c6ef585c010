// Proves the bounds of the pool, its turn-taking between kinds, and that the keyed lane on top of it
// runs one handler per key, newest frame last, with none lost.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
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
          pool,
          maxKeys: 10,
          handle: ({ key, value }) => {
            assert.ok(!running.has(key), 'two handlers of one key');
            assert.ok(value > (applied.get(key) ?? -1), 'out of order');
            applied.set(key, value);
            return new Promise((resolve) => running.set(key, resolve));
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
});
