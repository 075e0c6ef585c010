// Proves that a snapshot passes byte for byte when its checksum matches, in whatever pieces it comes,
// and that a short, damaged or unfinished one throws before its last byte is handed out.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SnapshotResponse } from '@bigfleet/wire/etcd';
import { verifiedSnapshot } from './native-snapshot.ts';

async function* piecesOf(bytes: Uint8Array, size: number): AsyncGenerator<SnapshotResponse> {
  for (let at = 0; at < bytes.length; at += size) {
    const blob = bytes.subarray(at, at + size);
    const remainingBytes = BigInt(Math.max(0, bytes.length - at - size));
    yield { $typeName: 'etcdserverpb.SnapshotResponse', remainingBytes, blob };
  }
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(Uint8Array.from(part));
  return Buffer.concat(parts);
}

function withTrailer(body: Uint8Array): Buffer {
  return Buffer.concat([body, createHash('sha256').update(body).digest()]);
}

test('whole snapshots pass unchanged, in pieces of any size', async () => {
  const inputs = fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 1, max: 400 }));
  await fc.assert(
    fc.asyncProperty(inputs, async ([body, size]) => {
      const file = withTrailer(body);
      assert.deepEqual(await collect(verifiedSnapshot(piecesOf(file, size))), file);
    }),
  );
});

test('one flipped bit anywhere, or a missing end, is found', async () => {
  const file = withTrailer(Buffer.alloc(100, 7));
  const inputs = fc.tuple(fc.nat(file.length - 1), fc.integer({ min: 1, max: 64 }));
  await fc.assert(
    fc.asyncProperty(inputs, async ([at, size]) => {
      const flipped = Buffer.from(file);
      flipped[at] = (flipped[at] ?? 0) ^ 1;
      const damaged = collect(verifiedSnapshot(piecesOf(flipped, size)));
      await assert.rejects(damaged, { code: 'etcd_snapshot_corrupt' });
      const cut = collect(verifiedSnapshot(piecesOf(file.subarray(0, at), size)));
      await assert.rejects(cut, { code: 'etcd_snapshot_corrupt' });
    }),
  );
});

test('a stream that ends while bytes remain is not a snapshot', async () => {
  async function* unfinished(): AsyncGenerator<SnapshotResponse> {
    const blob = withTrailer(Buffer.alloc(64));
    yield { $typeName: 'etcdserverpb.SnapshotResponse', remainingBytes: 5n, blob };
  }
  await assert.rejects(collect(verifiedSnapshot(unfinished())), { code: 'etcd_snapshot_corrupt' });
});
