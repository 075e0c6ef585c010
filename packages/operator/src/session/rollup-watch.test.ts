// Proves that an answer never confirms a request that is not in the shard's table, whatever the shard
// folded, rejected or held, that with a plain shard every answer confirms its own roll-up, and after how
// much silence a session counts as dead.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import fc from 'fast-check';
import type { RequestRef } from '../rollup/capacity-request.ts';
import { RollupGenerations, RollupWatch } from './rollup-watch.ts';

function refs(...uids: string[]): RequestRef[] {
  return uids.map((uid) => ({ uid, name: uid, namespace: 'n', resourceVersion: '1' }));
}

function uidsOf(requests: readonly RequestRef[]): string[] {
  return requests.map(({ uid }) => uid);
}

describe('RollupGenerations', () => {
  it('confirms one by one', () => {
    const generations = new RollupGenerations();
    generations.sent(refs('a'));
    assert.deepEqual(uidsOf(generations.applied()), ['a']);
    generations.sent(refs('b', 'c'));
    assert.deepEqual(uidsOf(generations.applied()), ['b', 'c']);
    assert.deepEqual(uidsOf(generations.applied()), []);
  });

  it('drops a held one unconfirmed', () => {
    const generations = new RollupGenerations();
    generations.sent(refs('a'));
    generations.held();
    generations.sent(refs('a', 'b'));
    assert.equal(generations.unansweredCount, 1);
    assert.deepEqual(uidsOf(generations.applied()), ['a', 'b']);
  });

  it('confirms only what every open roll-up contained', () => {
    const generations = new RollupGenerations();
    generations.sent(refs('a', 'b'));
    generations.sent(refs('b', 'c'));
    assert.deepEqual(uidsOf(generations.applied()), ['b']);
    assert.deepEqual(uidsOf(generations.applied()), ['b', 'c']);
  });

  it('gives all up at once', () => {
    const generations = new RollupGenerations();
    generations.sent(refs('a', 'b'));
    generations.sent(refs('b', 'c'));
    assert.deepEqual(uidsOf(generations.takeAll()), ['a', 'b', 'c']);
    assert.equal(generations.unansweredCount, 0);
  });

  it('is never early', () => {
    const step = fc.oneof(
      fc.record({ send: fc.subarray(['a', 'b', 'c', 'd', 'e']) }),
      fc.record({ take: fc.constantFrom('apply', 'hold', 'reject', 'fold') }),
      fc.constant({ answer: true }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const generations = new RollupGenerations();
        const underway: string[][] = [];
        /** What is in the table as of each answer that is on its way back. */
        const answers: (string[] | 'held')[] = [];
        for (const one of steps) {
          if ('send' in one) {
            generations.sent(refs(...one.send));
            underway.push(one.send);
          } else if ('answer' in one) {
            const answer = answers.shift();
            if (answer === 'held') generations.held();
            else if (answer !== undefined) {
              for (const uid of uidsOf(generations.applied())) assert.ok(answer.includes(uid), uid);
            }
          } else if (one.take === 'fold' && underway.length > 1) underway.shift();
          else {
            const rollup = underway.shift();
            if (rollup === undefined) continue;
            if (one.take === 'apply') answers.push(rollup);
            if (one.take === 'hold') answers.push('held');
          }
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

interface Watched {
  readonly time: VirtualRuntime;
  readonly watch: RollupWatch;
  /** When the session counted as dead, in milliseconds of the test. */
  readonly deaths: number[];
}

function watched(intervalMs: number): Watched {
  const time = createVirtualRuntime({ seed: 'watch', drain: drainMicrotasks });
  const deaths: number[] = [];
  const watch = new RollupWatch({
    runtime: time.runtime,
    intervalMs,
    isClassic: () => false,
    onConfirmed: () => {},
    onFallback: () => assert.fail('this shard knows extensions'),
    onDead: () => deaths.push(time.nowMs),
  });
  return { time, watch, deaths };
}

describe('RollupWatch', () => {
  for (const [intervalMs, deadMs] of [
    [100, 10_000],
    [1_000, 10_000],
    [3_000, 10_000],
    [4_000, 12_000],
    [10_000, 30_000],
  ] as const) {
    it(`takes a shard that does not answer for dead, at ${intervalMs} ms after ${deadMs}`, async () => {
      const { time, watch, deaths } = watched(intervalMs);
      const startMs = time.nowMs;
      while (deaths.length === 0) {
        watch.sent(refs('a'));
        await time.runFor(intervalMs);
        assert.ok(time.nowMs - startMs <= 100_000, 'it never dies');
      }
      assert.equal((deaths[0] ?? 0) - startMs, deadMs);
      watch.close();
    });
  }

  it('keeps a session whose shard was busy for a while, and one that answers', async () => {
    const { time, watch, deaths } = watched(1_000);
    for (let second = 0; second < 100; second++) {
      watch.sent(refs('a'));
      await time.runFor(1_000);
      if (second > 7) watch.applied();
    }
    assert.deepEqual(deaths, []);
    watch.close();
  });
});
