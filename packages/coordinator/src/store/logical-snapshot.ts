// The logical snapshot (coordinator §10.1), as every engine offers it: the live state as one JSON
// document that any engine can load, byte for byte the same whatever engine wrote it. Keys of the
// established document keep their shape; what it lacks (meta, times of binding, states of domains)
// stands beside them under names that older readers ignore. Dead rows are not part of the state and
// are left out.

import { FleetState, type FleetView } from '../state/fleet-state.ts';
import type { Json } from '../state/json-codec.ts';
import { metaCodec, rowCodecs } from '../state/row-format.ts';
import type { DomainRow, LoadedState } from '../state/rows.ts';
import type { StoreSnapshot } from './store.ts';

const CHUNK_BYTES = 1_048_576;

/** `storeRaftTerm` is 0 for engines without elections of their own. */
export function logicalSnapshot(loaded: LoadedState, storeRaftTerm = 0n): StoreSnapshot {
  const bytes = Buffer.from(encodeLogical(new FleetState(loaded)));
  return {
    format: 'logical-json',
    meta: loaded.meta,
    storeRaftTerm,
    bytes: chunksOf(bytes),
  };
}

async function* chunksOf(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    yield bytes.subarray(at, at + CHUNK_BYTES);
  }
}

/** One row per line: a person can read and diff it. */
export function encodeLogical(view: FleetView): string {
  const sections: readonly [string, string][] = [
    ['meta', JSON.stringify(metaCodec.encode(view.meta))],
    ['shards', lines(view.shards().map((row) => rowCodecs.shards.encode(row)))],
    ['cluster_to_shard', entries(view.clusters().map((row) => [row.clusterId, row.shardId]))],
    ['cluster_bound_at_ms', entries(view.clusters().map((row) => [row.clusterId, row.boundAtMs]))],
    ['domain_to_shard', lines(view.domains().map(domainJson))],
    ['quotas', lines(view.quotas().map((row) => rowCodecs.quotas.encode(row)))],
    ['providers', lines(view.providers().map((row) => rowCodecs.providers.encode(row)))],
    ['provider_homes', lines(view.homes().map((row) => rowCodecs.homes.encode(row)))],
    ['transfers', lines(view.transfers().map((row) => rowCodecs.transfers.encode(row)))],
    ['overrides', lines(view.overrides().map((row) => rowCodecs.overrides.encode(row)))],
  ];
  const body = sections.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',\n');
  return `{\n${body}\n}\n`;
}

function domainJson(row: DomainRow): Json {
  const { key, value, shardId, state, revision } = row;
  return { domain: { key, value }, shard: shardId, state, revision };
}

function lines(rows: readonly Json[]): string {
  if (rows.length === 0) return '[]';
  return `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]`;
}

/** Written by hand: as an object, ids like `7` would be reordered and `__proto__` would vanish. */
function entries(pairs: readonly (readonly [string, Json])[]): string {
  if (pairs.length === 0) return '{}';
  const texts = pairs.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return `{\n${texts.join(',\n')}\n}`;
}
