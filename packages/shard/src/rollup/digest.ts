// A digest of an undecoded roll-up without its timestamp: two roll-ups that differ in nothing but their
// timestamp have one digest, so an idle cluster's report costs a hash every ten seconds. The walk ends
// at the timestamp, which every encoder writes before the needs; the rest of the bytes is only hashed.
//
// The digest is of bytes, not of meaning: the same needs in another order, or a timestamp that the
// walk does not find, make another roll-up, which is admitted once more; that is correct and merely
// slower. It judges nothing: bytes that are no roll-up have a digest too, which never equals that of an
// accepted one. SHA-256, because a cluster must not be able to construct a roll-up that passes for
// another.

import { createHash, type Hash } from 'node:crypto';
import type { Timers } from '@bigfleet/base';
import { FieldReader } from '../session/field-reader.ts';

/** `ClusterCapacityNeeds.timestamp_unix_nanos`. */
const TIMESTAMP = 2;
/** Above the rows that admission takes; a frame of empty fields must not hold the event loop. */
const MAX_FIELDS = 300_000;
/** Bytes hashed between two turns of the event loop. */
const HASH_SLICE_BYTES = 4 * 1024 * 1024;

/** Hex. Waits only for roll-ups larger than a slice. */
export async function rollupDigest(timers: Timers, bytes: Uint8Array): Promise<string> {
  const timestamp = timestampRange(bytes);
  const hash = createHash('sha256');
  await hashRange(timers, hash, bytes.subarray(0, timestamp.start));
  await hashRange(timers, hash, bytes.subarray(timestamp.end));
  return hash.digest('hex');
}

/** Empty when there is none. */
function timestampRange(bytes: Uint8Array): { readonly start: number; readonly end: number } {
  const reader = FieldReader.of(bytes);
  for (let count = 0; count < MAX_FIELDS && reader.next(); count++) {
    if (reader.field !== TIMESTAMP) continue;
    if (reader.isVarint) return { start: reader.start, end: reader.end };
    break;
  }
  return { start: 0, end: 0 };
}

async function hashRange(timers: Timers, hash: Hash, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; at += HASH_SLICE_BYTES) {
    if (at > 0) await timers.turn();
    hash.update(bytes.subarray(at, at + HASH_SLICE_BYTES));
  }
}
