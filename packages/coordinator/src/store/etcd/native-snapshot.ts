// etcd's own database file as a stream, checked while it passes: etcd appends the SHA-256 of the
// file, `etcdutl` wants it there, and a stream that ends early or differs must never look like a
// backup. At most one chunk and 32 bytes are held.

import { createHash } from 'node:crypto';
import { BigFleetError } from '@bigfleet/base';
import type { SnapshotResponse } from '@bigfleet/wire/etcd';

const digestBytes = 32;

/** Yields every byte, trailer included; throws `etcd_snapshot_corrupt` before the last ones. */
export async function* verifiedSnapshot(
  chunks: AsyncIterable<SnapshotResponse>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  // The last 32 bytes seen so far: they may be the trailer.
  let held: Buffer = Buffer.alloc(0);
  let remainingBytes: bigint | undefined;
  for await (const { blob, remainingBytes: left } of chunks) {
    remainingBytes = left;
    const joined = Buffer.concat([held, blob]);
    const passed = joined.subarray(0, Math.max(0, joined.length - digestBytes));
    held = joined.subarray(passed.length);
    if (passed.length === 0) continue;
    hash.update(passed);
    yield passed;
  }
  if (remainingBytes !== 0n || held.length < digestBytes) throw corrupt('the stream ended early');
  if (!hash.digest().equals(held)) throw corrupt('the checksum does not match');
  yield held;
}

function corrupt(detail: string): BigFleetError {
  return new BigFleetError('etcd_snapshot_corrupt', `etcd snapshot: ${detail}`);
}
