// Proves that looks are shared by everybody who asked before they began, never by anybody later, and
// that at most one is in flight.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedLook } from './confirmation.ts';

function staged(): { look: () => Promise<number>; begun: PromiseWithResolvers<number>[] } {
  const begun: PromiseWithResolvers<number>[] = [];
  const look = sharedLook(() => {
    const stage = Promise.withResolvers<number>();
    begun.push(stage);
    return stage.promise;
  });
  return { look, begun };
}

test('who asks during a look gets the next one, however many they are', async () => {
  const { look, begun } = staged();
  const first = look();
  const later = [look(), look(), look()];
  assert.equal(begun.length, 1);
  begun[0]?.resolve(1);
  assert.equal(await first, 1);
  assert.equal(begun.length, 2, 'the waiting ones share one');
  const latest = look();
  begun[1]?.resolve(2);
  assert.deepEqual(await Promise.all(later), [2, 2, 2]);
  begun[2]?.resolve(3);
  assert.equal(await latest, 3);
  assert.equal(begun.length, 3);
});

test('a look that failed fails its own askers only', async () => {
  const { look, begun } = staged();
  const first = look();
  const second = look();
  begun[0]?.reject(new Error('lost'));
  await assert.rejects(first, /lost/);
  await Promise.resolve();
  begun[1]?.resolve(2);
  assert.equal(await second, 2);
});
