// The envelope of an encoded roll-up, read without decoding a need: whose it says it is, and a
// digest of everything except the timestamp. Two roll-ups that differ in nothing but their
// timestamp have one digest, so an idle cluster's report costs a hash every ten seconds.
//
// The digest is of bytes, not of meaning: the same needs in another order are another roll-up and
// are decoded once more, which is correct and merely slower. SHA-256, because a cluster must not be
// able to construct a roll-up that passes for another.

import { createHash, type Hash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { err, ok, type Result, type Timers } from '@bigfleet/base';
import { TopLevelReader } from '../session/field-reader.ts';

const CLUSTER_ID = 1;
const TIMESTAMP = 2;
const NEEDS = 3;
const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** Bytes hashed between two turns of the event loop: about 3 ms. */
const HASH_SLICE_BYTES = 4 * 1024 * 1024;

/** Above the decoder's own limit of rows; a frame of empty fields must not hold the event loop. */
const MAX_FIELDS = 300_000;

export interface RollupEnvelope {
  /** Empty when the operator left it out: the session's own. */
  readonly clusterId: string;
  /** Hex. */
  readonly digest: string;
}

export type EnvelopeProblem = 'malformed' | 'too_large';

/** Waits only for roll-ups larger than a slice. */
export async function readEnvelope(
  timers: Timers,
  bytes: Uint8Array,
): Promise<Result<RollupEnvelope, EnvelopeProblem>> {
  const head = readHead(bytes);
  if (!head.ok) return head;
  const { clusterId, timestamp } = head.value;
  const hash = createHash('sha256');
  await hashRange(timers, hash, bytes.subarray(0, timestamp.start));
  await hashRange(timers, hash, bytes.subarray(timestamp.end));
  return ok({ clusterId, digest: hash.digest('hex') });
}

interface Head {
  readonly clusterId: string;
  /** The byte range of the timestamp field; empty when there is none. */
  readonly timestamp: { readonly start: number; readonly end: number };
}

function readHead(bytes: Uint8Array): Result<Head, EnvelopeProblem> {
  const reader = new TopLevelReader(bytes);
  let clusterId = '';
  let timestamp: Head['timestamp'] | undefined;
  for (let count = 0; reader.next(); count++) {
    if (count >= MAX_FIELDS) return err('too_large');
    switch (reader.field) {
      case TIMESTAMP:
        // Once: a second one would have to be cut out too, and no encoder writes it.
        if (reader.wireType !== VARINT || timestamp !== undefined) return err('malformed');
        timestamp = { start: reader.start, end: reader.end };
        break;
      case CLUSTER_ID: {
        const value = reader.value();
        if (reader.wireType !== LENGTH_DELIMITED || !isUtf8(value)) return err('malformed');
        clusterId = Buffer.from(value).toString('utf8');
        break;
      }
      case NEEDS:
        if (reader.wireType !== LENGTH_DELIMITED) return err('malformed');
        break;
    }
  }
  if (reader.isMalformed) return err('malformed');
  return ok({ clusterId, timestamp: timestamp ?? { start: 0, end: 0 } });
}

async function hashRange(timers: Timers, hash: Hash, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; at += HASH_SLICE_BYTES) {
    if (at > 0) await timers.turn();
    hash.update(bytes.subarray(at, at + HASH_SLICE_BYTES));
  }
}
