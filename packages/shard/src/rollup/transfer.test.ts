// Proves that roll-ups pass to the engine's thread in order, a window of bytes at a time, also when one
// fails; that those of one turn and those that come while the thread works share a message, and that a
// lost thread fails all of them; and that they come out of a message as they went in.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drainMicrotasks } from '@bigfleet/base/real';
import fc from 'fast-check';
import type { RollupOrder, RollupVerdict } from './admission.ts';
import { packRollups, RollupTransfer, unpackRollups } from './transfer.ts';

const KIB = 1_024;

/** A thread that answers when the test says so. */
class ThreadBed {
  readonly posted: string[] = [];
  readonly settled: string[] = [];
  readonly #open: PromiseWithResolvers<readonly RollupVerdict[]>[] = [];
  readonly #orders: (readonly RollupOrder[])[] = [];
  readonly #transfer: RollupTransfer = new RollupTransfer((orders) => {
    this.posted.push(orders.map(({ cluster }) => cluster).join(' '));
    this.#orders.push(orders);
    const open = Promise.withResolvers<readonly RollupVerdict[]>();
    this.#open.push(open);
    return open.promise;
  });

  add(...clusters: readonly string[]): void {
    for (const cluster of clusters) this.addSized(cluster, 1);
  }

  addSized(cluster: string, size: number): void {
    const order: RollupOrder = { cluster, bytes: new Uint8Array(size), isGuarded: true };
    this.#transfer.add(order).then(
      (verdict) =>
        this.settled.push(verdict.kind === 'rejected' ? `${cluster}=${verdict.detail}` : cluster),
      (error: unknown) => this.settled.push(`${cluster} ${String(error)}`),
    );
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

test('small ones share the window, the next waits for room, and order is kept', async () => {
  const bed = new ThreadBed();
  for (const name of ['a', 'b', 'c', 'd']) bed.addSized(name, 20 * KIB);
  bed.addSized('tiny', 0);
  await drainMicrotasks();
  assert.deepEqual(bed.posted, ['a b c'], 'nothing overtakes d');
  await bed.answer(new Error('lost'));
  assert.deepEqual(bed.posted, ['a b c', 'd tiny']);
  assert.deepEqual(bed.settled, ['a Error: lost', 'b Error: lost', 'c Error: lost']);
});

test('two larger ones pass together, the third waits', async () => {
  const bed = new ThreadBed();
  for (const name of ['a', 'b', 'c']) bed.addSized(name, 220 * KIB);
  await drainMicrotasks();
  assert.deepEqual(bed.posted, ['a b']);
  await bed.answer();
  assert.deepEqual(bed.posted, ['a b', 'c']);
});

test('what is in work or gathers has its place in the window', async () => {
  const bed = new ThreadBed();
  for (const name of ['a', 'b', 'c', 'd']) {
    bed.addSized(name, 20 * KIB);
    await drainMicrotasks();
  }
  assert.deepEqual(bed.posted, ['a', 'b'], 'c gathers, d waits for room');
  await bed.answer();
  assert.deepEqual(bed.posted, ['a', 'b', 'c d']);
});

test('one that is larger than the window passes alone', async () => {
  const bed = new ThreadBed();
  bed.addSized('huge', 900 * KIB);
  bed.addSized('small', 1);
  bed.addSized('vast', 800 * KIB);
  await drainMicrotasks();
  assert.deepEqual(bed.posted, ['huge']);
  await bed.answer();
  assert.deepEqual(bed.posted, ['huge', 'small']);
  await bed.answer();
  assert.deepEqual(bed.posted, ['huge', 'small', 'vast']);
  await bed.answer();
  bed.add('next');
  await drainMicrotasks();
  await bed.answer();
  assert.deepEqual(bed.settled, ['huge=huge', 'small=small', 'vast=vast', 'next=next']);
});

test('one turn is one message; what comes while the thread works goes with the next', async () => {
  const bed = new ThreadBed();
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
  const bed = new ThreadBed();
  for (const cluster of ['A', 'b', 'C', 'D', 'e']) {
    bed.addSized(cluster, cluster === cluster.toUpperCase() ? 16 * KIB : 1);
    await drainMicrotasks();
  }
  assert.deepEqual(bed.posted, ['A', 'b C'], 'in order, and two at a time');
  await bed.answer();
  assert.deepEqual(bed.posted, ['A', 'b C', 'D e']);
});

test('a lost thread fails every roll-up of its message, and the next one is posted', async () => {
  const bed = new ThreadBed();
  bed.add('a', 'b');
  await drainMicrotasks();
  await bed.answer(new Error('lost'));
  assert.deepEqual(bed.settled, ['a Error: lost', 'b Error: lost']);
  bed.add('c');
  await drainMicrotasks();
  await bed.answer();
  assert.deepEqual(bed.settled.at(-1), 'c=c');
});

const order = fc
  .tuple(fc.string({ maxLength: 4 }), fc.uint8Array({ maxLength: 9 }), fc.boolean())
  .map(([cluster, bytes, isGuarded]): RollupOrder => ({ cluster, bytes, isGuarded }));

test('whatever is packed is unpacked, in order', (context) => {
  const seed = Number(process.env['BIGFLEET_SEED'] ?? 7_002);
  context.diagnostic(`seed ${seed}`);
  fc.assert(
    fc.property(fc.array(order, { maxLength: 6 }), (orders) => {
      const packed = structuredClone(packRollups(orders));
      assert.deepEqual([...unpackRollups(packed)], orders);
    }),
    { numRuns: 500, seed },
  );
});

test('the bytes of an order are copied, views of a larger buffer too', () => {
  const frame = Uint8Array.of(9, 1, 2, 9);
  const packed = packRollups([{ cluster: 'a', bytes: frame.subarray(1, 3), isGuarded: true }]);
  structuredClone(packed, { transfer: [packed.bytes.buffer] });
  assert.deepEqual([...frame], [9, 1, 2, 9]);
  assert.equal(packed.bytes.length, 0, 'only the copy was given away');
});
