// The values of `leader`, `meta/apply` and `replicas/…` (coordinator §3.3) as JSON. Strict when
// read: a value that is not ours means that somebody edits our keys by hand, and then guessing
// would be worse than stopping. The assignment revision and the ledger generation travel in
// `meta/apply`, because every command may move them and they must move with it.

import { count, int64, parseJson, record, text } from '../../state/json-codec.ts';
import { bytesOf, textOf } from './key-space.ts';

export interface LeaderValue {
  readonly nodeId: string;
  readonly grpcAddress: string;
  readonly term: bigint;
  readonly acquiredAt: string;
}

export interface ApplyValue {
  readonly index: number;
  readonly lastCommandId: string;
  readonly assignmentRevision: number;
  readonly ledgerGeneration: number;
}

export interface ReplicaValue {
  readonly grpcAddress: string;
  readonly peerAddress: string;
  readonly version: string;
}

const leaderCodec = record<LeaderValue>({
  nodeId: text,
  grpcAddress: text,
  term: int64,
  acquiredAt: text,
});
const applyCodec = record<ApplyValue>({
  index: count,
  lastCommandId: text,
  assignmentRevision: count,
  ledgerGeneration: count,
});
const replicaCodec = record<ReplicaValue>({ grpcAddress: text, peerAddress: text, version: text });

export const firstApply: ApplyValue = {
  index: 0,
  lastCommandId: '',
  assignmentRevision: 0,
  ledgerGeneration: 0,
};

export function encodeLeader(value: LeaderValue): Uint8Array {
  return bytesOf(JSON.stringify(leaderCodec.encode(value)));
}

export function decodeLeader(bytes: Uint8Array): LeaderValue {
  const context = { at: 'leader', unknownKeys: 'ignore' } as const;
  return leaderCodec.decode(parseJson(textOf(bytes), context), context);
}

export function encodeApply(value: ApplyValue): Uint8Array {
  return bytesOf(JSON.stringify(applyCodec.encode(value)));
}

export function decodeApply(bytes: Uint8Array): ApplyValue {
  const context = { at: 'meta/apply', unknownKeys: 'ignore' } as const;
  return applyCodec.decode(parseJson(textOf(bytes), context), context);
}

export function encodeReplica(value: ReplicaValue): Uint8Array {
  return bytesOf(JSON.stringify(replicaCodec.encode(value)));
}

export function encodeTerm(term: bigint): Uint8Array {
  return bytesOf(term.toString());
}

export function decodeTerm(bytes: Uint8Array): bigint {
  return int64.decode(textOf(bytes), { at: 'meta/term', unknownKeys: 'refuse' });
}
