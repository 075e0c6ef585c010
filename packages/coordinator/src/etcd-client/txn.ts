// Guards and operations of a transaction, spelled as the specification does (coordinator §3.4).
// A key that does not exist has create revision, mod revision and lease 0.

import {
  Compare_CompareResult,
  Compare_CompareTarget,
  type KeyValue,
  type TxnResponse,
} from '@bigfleet/wire/etcd';
import type { TxnInit } from './client.ts';

/** etcd's default `--max-txn-ops`, for guards and operations each. */
export const maxTxnOps = 128;

export type Guard = NonNullable<TxnInit['compare']>[number];
export type Op = NonNullable<TxnInit['success']>[number];

export function createRevisionIs(key: Uint8Array, value: bigint): Guard {
  return equals(key, Compare_CompareTarget.CREATE, { case: 'createRevision', value });
}

export function modRevisionIs(key: Uint8Array, value: bigint): Guard {
  return equals(key, Compare_CompareTarget.MOD, { case: 'modRevision', value });
}

export function leaseIs(key: Uint8Array, value: bigint): Guard {
  return equals(key, Compare_CompareTarget.LEASE, { case: 'lease', value });
}

function equals(
  key: Uint8Array,
  target: Compare_CompareTarget,
  targetUnion: NonNullable<Guard['targetUnion']>,
): Guard {
  return { result: Compare_CompareResult.EQUAL, target, key, targetUnion };
}

export function put(key: Uint8Array, value: Uint8Array, lease: bigint = 0n): Op {
  return { request: { case: 'requestPut', value: { key, value, lease } } };
}

export function remove(key: Uint8Array): Op {
  return { request: { case: 'requestDeleteRange', value: { key } } };
}

export function get(key: Uint8Array): Op {
  return { request: { case: 'requestRange', value: { key } } };
}

/** What the `at`-th operation read; undefined when the key does not exist. */
export function readAt(answer: TxnResponse, at: number): KeyValue | undefined {
  const response = answer.responses[at]?.response;
  return response?.case === 'responseRange' ? response.value.kvs[0] : undefined;
}
