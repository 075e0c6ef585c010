// Proves that roll-ups pass in order, a window of bytes at a time, also when one fails, and that
// what does not fit waits outside of the engine's queue.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drainMicrotasks } from '@bigfleet/base/real';
import { RollupWindow } from './window.ts';

const KIB = 1_024;

/** Work that ends when the test says so. */
class Bed {
  readonly #window = new RollupWindow();
  readonly started: string[] = [];
  readonly ended: string[] = [];
  readonly #open = new Map<string, PromiseWithResolvers<void>>();

  offer(name: string, bytes: number): void {
    const work = this.#window.pass(bytes, () => {
      this.started.push(name);
      const open = Promise.withResolvers<void>();
      this.#open.set(name, open);
      return open.promise;
    });
    work.then(
      () => this.ended.push(name),
      () => this.ended.push(`${name} failed`),
    );
  }

  async end(name: string, error?: Error): Promise<void> {
    const open = this.#open.get(name) ?? assert.fail(`${name} has not started`);
    if (error === undefined) open.resolve();
    else open.reject(error);
    await drainMicrotasks();
  }
}

test('small ones share the window, the next waits for room, and order is kept', async () => {
  const bed = new Bed();
  for (const name of ['a', 'b', 'c', 'd']) bed.offer(name, 20 * KIB);
  bed.offer('tiny', 0);
  await drainMicrotasks();
  assert.deepEqual(bed.started, ['a', 'b', 'c'], 'nothing overtakes d');
  await bed.end('b', new Error('lost'));
  assert.deepEqual(bed.started, ['a', 'b', 'c', 'd', 'tiny']);
  assert.deepEqual(bed.ended, ['b failed']);
});

test('two larger ones pass together, the third waits', async () => {
  const bed = new Bed();
  for (const name of ['a', 'b', 'c']) bed.offer(name, 220 * KIB);
  await drainMicrotasks();
  assert.deepEqual(bed.started, ['a', 'b']);
  await bed.end('b');
  assert.deepEqual(bed.started, ['a', 'b', 'c']);
});

test('one that is larger than the window passes alone', async () => {
  const bed = new Bed();
  bed.offer('huge', 900 * KIB);
  bed.offer('small', 1);
  bed.offer('vast', 800 * KIB);
  await drainMicrotasks();
  assert.deepEqual(bed.started, ['huge']);
  await bed.end('huge');
  assert.deepEqual(bed.started, ['huge', 'small']);
  await bed.end('small');
  assert.deepEqual(bed.started, ['huge', 'small', 'vast']);
  await bed.end('vast');
  bed.offer('next', 1);
  await drainMicrotasks();
  await bed.end('next');
  assert.deepEqual(bed.ended, ['huge', 'small', 'vast', 'next']);
});
