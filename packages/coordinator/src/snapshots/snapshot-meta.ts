// `meta.json` of a snapshot (coordinator §10.1): what the state file is, and how to tell that it is
// whole. Keys of later versions are ignored; a missing or malformed one refuses the archive.

import { BigFleetError, describeThrown } from '@bigfleet/base';
import {
  count,
  type DecodeContext,
  objectOf,
  oneOf,
  parseJson,
  record,
  text,
} from '../state/json-codec.ts';

export const META_FILE = 'meta.json';
export const STATE_FILE = 'state';
export const MAX_META_BYTES = 65_536;
const VERSION = 1;
const SHA256 = /^[0-9a-f]{64}$/;

export interface SnapshotMeta {
  readonly version: 1;
  readonly id: string;
  readonly index: number;
  readonly term: number;
  readonly storeRaftTerm: number;
  readonly engine: 'sqlite' | 'etcd';
  readonly format: 'sqlite' | 'etcd-db' | 'logical-json';
  readonly clusterUid: string;
  /** RFC 3339, UTC. */
  readonly createdAt: string;
  /** Of the state, lower-case hex. */
  readonly sha256: string;
  readonly size: number;
  /** Absent where the engine cannot tell without reading its own file. */
  readonly ledgerGeneration?: number | undefined;
}

type Required = Omit<SnapshotMeta, 'ledgerGeneration'>;

const codec = record<Required>({
  version: oneOf([VERSION]),
  id: text,
  index: count,
  term: count,
  storeRaftTerm: count,
  engine: oneOf(['sqlite', 'etcd']),
  format: oneOf(['sqlite', 'etcd-db', 'logical-json']),
  clusterUid: text,
  createdAt: text,
  sha256: text,
  size: count,
});

export function encodeSnapshotMeta(meta: SnapshotMeta): string {
  const { ledgerGeneration, ...required } = meta;
  const json = codec.encode(required) as Readonly<Record<string, unknown>>;
  const all =
    ledgerGeneration === undefined ? json : { ...json, ledger_generation: ledgerGeneration };
  return `${JSON.stringify(all, null, 2)}\n`;
}

/** Throws `snapshot_malformed`. */
export function decodeSnapshotMeta(source: string): SnapshotMeta {
  const context: DecodeContext = { at: META_FILE, unknownKeys: 'ignore' };
  try {
    const json = parseJson(source, context);
    const meta = codec.decode(json, context);
    const generation = objectOf(json, context)['ledger_generation'];
    if (meta.index === 0) throw malformedSnapshot(INDEX_ZERO);
    if (!SHA256.test(meta.sha256)) throw malformedSnapshot(`${META_FILE}.sha256: is no SHA-256`);
    if (generation === undefined) return meta;
    return { ...meta, ledgerGeneration: count.decode(generation, context) };
  } catch (error) {
    if (error instanceof BigFleetError && error.code === 'snapshot_malformed') throw error;
    throw malformedSnapshot(describeThrown(error), error);
  }
}

const INDEX_ZERO = 'snapshot index 0 — not a valid coordinator snapshot';

export function malformedSnapshot(problem: string, cause?: unknown): BigFleetError {
  return new BigFleetError('snapshot_malformed', problem, { cause });
}
