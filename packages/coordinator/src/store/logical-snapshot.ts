// A logical snapshot of what an engine has just loaded, as every engine offers it.

import { FleetState } from '../state/fleet-state.ts';
import type { LoadedState } from '../state/writes.ts';
import type { StoreSnapshot } from './store.ts';
import { encodeLogical } from './logical-format.ts';

const CHUNK_BYTES = 1_048_576;

/** `storeRaftTerm` is 0 for engines without elections of their own. */
export function logicalSnapshot(loaded: LoadedState, storeRaftTerm = 0n): StoreSnapshot {
  const bytes = Buffer.from(encodeLogical(new FleetState(loaded)));
  return {
    format: 'logical-json',
    index: loaded.meta.applyIndex,
    term: loaded.meta.term,
    storeRaftTerm,
    clusterUid: loaded.meta.clusterUid,
    ledgerGeneration: loaded.meta.ledgerGeneration,
    bytes: chunksOf(bytes),
  };
}

async function* chunksOf(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    yield bytes.subarray(at, at + CHUNK_BYTES);
  }
}
