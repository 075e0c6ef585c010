// Proves that the store keeps its bound by dropping closed segments only, refuses what cannot fit,
// and counts what earlier processes left.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemorySegments } from './testing/memory-segments.ts';
import { SegmentStore } from './segment-store.ts';

const bytes = (count: number): Uint8Array => new Uint8Array(count);

async function names(files: MemorySegments): Promise<string[]> {
  return (await files.list()).map(({ name }) => name.slice(13));
}

test('an open segment is never dropped, however old it is', async () => {
  const files = new MemorySegments();
  const store = new SegmentStore({ files, epoch: 1n, maxBytes: 1_000 });
  await store.begin('trace');
  assert.equal(await store.append('trace', bytes(300)), true);
  for (let segment = 0; segment < 5; segment++) {
    await store.begin('records');
    assert.equal(await store.append('records', bytes(300)), true);
    assert.ok(store.bytes <= 1_000);
  }
  assert.deepEqual(await names(files), ['00000000.trace', '00000004.records', '00000005.records']);
});

test('what cannot fit beside the open segments is refused, and nothing is written', async () => {
  const files = new MemorySegments();
  const store = new SegmentStore({ files, epoch: 1n, maxBytes: 1_000 });
  await store.begin('trace');
  await store.append('trace', bytes(600));
  assert.equal(await store.append('trace', bytes(401)), false);
  assert.equal(store.openBytes('trace'), 600);
  assert.equal(await store.append('trace', bytes(400)), true);
  assert.equal(await store.append('records', bytes(1)), false, 'no such segment is open');
});

test('what an earlier process left counts, and goes first', async () => {
  const files = new MemorySegments();
  const before = new SegmentStore({ files, epoch: 1n, maxBytes: 1_000 });
  await before.begin('records');
  await before.append('records', bytes(700));
  await before.end('records');
  const store = new SegmentStore({ files, epoch: 2n, maxBytes: 1_000 });
  await store.begin('trace');
  await store.append('trace', bytes(500));
  const left = await files.list();
  assert.deepEqual(
    left.map(({ name, bytes: size }) => [name, size]),
    [['000000000002-00000000.trace', 500]],
  );
});
