// The values of `leader`, `meta/apply` and `replicas/…` (coordinator §3.3) as JSON. Strict when
// read: a value that is not ours means that somebody edits our keys by hand, and then guessing
// would be worse than stopping. The assignment revision and the ledger generation travel in
// `meta/apply`, because every command may move them and they must move with it.

import { type Codec, count, int64, parseJson, record, text } from '../../state/json-codec.ts';
import type { Meta } from '../../state/rows.ts';
import { bytesOf, textOf } from './key-space.ts';

export interface LeaderValue {
  readonly nodeId: string;
  readonly grpcAddress: string;
  readonly term: bigint;
  readonly acquiredAt: string;
}

export interface ApplyValue
  extends Pick<Meta, 'lastCommandId' | 'assignmentRevision' | 'ledgerGeneration'> {
  readonly index: number;
}

export interface ReplicaValue {
  readonly grpcAddress: string;
  readonly peerAddress: string;
  readonly version: string;
}

interface StoredValue<T> {
  encode(value: T): Uint8Array;
  decode(bytes: Uint8Array): T;
}

function storedValue<T>(at: string, codec: Codec<T>): StoredValue<T> {
  const context = { at, unknownKeys: 'ignore' } as const;
  return {
    encode: (value) => bytesOf(JSON.stringify(codec.encode(value))),
    decode: (bytes) => codec.decode(parseJson(textOf(bytes), context), context),
  };
}

export const leaderValue: StoredValue<LeaderValue> = storedValue(
  'leader',
  record<LeaderValue>({ nodeId: text, grpcAddress: text, term: int64, acquiredAt: text }),
);

export const applyValue: StoredValue<ApplyValue> = storedValue(
  'meta/apply',
  record<ApplyValue>({
    index: count,
    lastCommandId: text,
    assignmentRevision: count,
    ledgerGeneration: count,
  }),
);

export const replicaValue: StoredValue<ReplicaValue> = storedValue(
  'replicas',
  record<ReplicaValue>({ grpcAddress: text, peerAddress: text, version: text }),
);

export const firstApply: ApplyValue = {
  index: 0,
  lastCommandId: '',
  assignmentRevision: 0,
  ledgerGeneration: 0,
};

export function encodeTerm(term: bigint): Uint8Array {
  return bytesOf(term.toString());
}

export function decodeTerm(bytes: Uint8Array): bigint {
  return int64.decode(textOf(bytes), { at: 'meta/term', unknownKeys: 'refuse' });
}
