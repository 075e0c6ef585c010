// Proves that roll-ups reach the engine's thread in order, that those of one turn and those that come
// while it works share a message, and that a lost thread fails all of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drainMicrotasks } from '@bigfleet/base/real';
import type { RollupVerdict } from '../engine-host/answer.ts';
import type { RollupOrder } from '../engine-host/engine-host.ts';
import { RollupBatches } from './batches.ts';

/** Of those that are written in capitals. */
const LARGE_BYTES = 16_384;

/** A thread that answers when the test says so. */
class Bed {
  readonly posted: string[] = [];
  readonly settled: string[] = [];
  readonly #open: PromiseWithResolvers<readonly RollupVerdict[]>[] = [];
  readonly #orders: (readonly RollupOrder[])[] = [];
  readonly batches: RollupBatches = new RollupBatches((orders) => {
    this.posted.push(orders.map(({ cluster }) => cluster).join(' '));
    this.#orders.push(orders);
    const open = Promise.withResolvers<readonly RollupVerdict[]>();
    this.#open.push(open);
    return open.promise;
  });

  add(...clusters: readonly string[]): void {
    for (const cluster of clusters) {
      const bytes = new Uint8Array(cluster === cluster.toUpperCase() ? LARGE_BYTES : 1);
      const order: RollupOrder = { cluster, bytes, isGuarded: true };
      this.batches.add(order).then(
        (verdict) =>
          this.settled.push(verdict.kind === 'rejected' ? `${cluster}=${verdict.detail}` : cluster),
        (error: unknown) => this.settled.push(`${cluster} ${String(error)}`),
      );
    }
  }

  /** The oldest message that is open. */
  async answer(error?: Error): Promise<void> {
    const open = this.#open.shift() ?? assert.fail('nothing is open');
    const orders = this.#orders.shift() ?? [];
    if (error !== undefined) open.reject(error);
    else {
      open.resolve(
        orders.map(({ cluster }) => ({ kind: 'rejected', code: 'malformed', detail: cluster })),
      );
    }
    await drainMicrotasks();
  }
}

test('one turn is one message; what comes while the thread works goes with the next', async () => {
  const bed = new Bed();
  bed.add('a', 'b');
  assert.deepEqual(bed.posted, [], 'others of this turn may follow');
  await drainMicrotasks();
  for (const cluster of ['c', 'd']) {
    bed.add(cluster);
    await drainMicrotasks();
  }
  assert.deepEqual(bed.posted, ['a b']);
  await bed.answer();
  assert.deepEqual(bed.posted, ['a b', 'c d']);
  assert.deepEqual(bed.settled, ['a=a', 'b=b'], 'each with its own verdict');
  await bed.answer();
  assert.deepEqual(bed.settled, ['a=a', 'b=b', 'c=c', 'd=d']);
});

test('a large one waits behind the one in work, a third message does not', async () => {
  const bed = new Bed();
  for (const cluster of ['A', 'b', 'C', 'D', 'e']) {
    bed.add(cluster);
    await drainMicrotasks();
  }
  assert.deepEqual(bed.posted, ['A', 'b C'], 'in order, and two at a time');
  await bed.answer();
  assert.deepEqual(bed.posted, ['A', 'b C', 'D e']);
});

test('a flush lets nothing overtake, whatever is open', async () => {
  const bed = new Bed();
  bed.add('a');
  await drainMicrotasks();
  bed.add('b');
  await drainMicrotasks();
  bed.add('c');
  bed.batches.flush();
  bed.batches.flush();
  assert.deepEqual(bed.posted, ['a', 'b c']);
  bed.add('d');
  await drainMicrotasks();
  assert.deepEqual(bed.posted, ['a', 'b c'], 'what was flushed counts as open');
  await bed.answer();
  await bed.answer();
  assert.deepEqual(bed.posted, ['a', 'b c', 'd']);
});

test('a lost thread fails every roll-up of its message, and the next one is posted', async () => {
  const bed = new Bed();
  bed.add('a', 'b');
  await drainMicrotasks();
  await bed.answer(new Error('lost'));
  assert.deepEqual(bed.settled, ['a Error: lost', 'b Error: lost']);
  bed.add('c');
  await drainMicrotasks();
  await bed.answer();
  assert.deepEqual(bed.settled.at(-1), 'c=c');
});
