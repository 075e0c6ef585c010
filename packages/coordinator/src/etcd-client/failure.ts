// What a failed call to etcd means, decided in one place. The question that matters is whether the
// request may have been executed: only errors that etcd raises before it proposes to Raft, and those
// that Raft's apply raises instead of applying, are definite. A timeout, a lost connection and
// "leader changed" are not: guessing there would lose or double a write (coordinator §3.5).

import { BigFleetError } from '@bigfleet/base';
import { RpcError } from '@bigfleet/wire';

export type EtcdFailure =
  /** Nobody knows. Reads may ask another endpoint; a write must be resolved by reading. */
  | 'ambiguous'
  /** Not executed, and this member cannot: ask another. */
  | 'elsewhere'
  /** Not executed: the token is unknown or old. Authenticate again, then once more. */
  | 'token'
  /** Not executed: the revision asked for is gone. */
  | 'compacted'
  /** Not executed: the quota is used up. */
  | 'no-space'
  | 'lease-not-found'
  /** Not executed, and asking again will not help. */
  | 'refused';

/** Texts of etcd 3.4 to 3.7 (rpctypes); the code alone does not tell them apart. */
const byText: readonly (readonly [string, EtcdFailure])[] = [
  ['etcdserver: no leader', 'elsewhere'],
  ['etcdserver: rpc not supported for learner', 'elsewhere'],
  ['etcdserver: server stopped', 'ambiguous'],
  ['etcdserver: too many requests', 'elsewhere'],
  ['etcdserver: invalid auth token', 'token'],
  ['etcdserver: revision of auth store is old', 'token'],
  ['etcdserver: mvcc: required revision has been compacted', 'compacted'],
  ['etcdserver: mvcc: database space exceeded', 'no-space'],
  ['etcdserver: requested lease not found', 'lease-not-found'],
];

export function failureOf(error: unknown): EtcdFailure {
  if (!(error instanceof RpcError)) return 'ambiguous';
  const known = byText.find(([text]) => error.message.startsWith(text));
  if (known !== undefined) return known[1];
  switch (error.code) {
    case 'INVALID_ARGUMENT':
    case 'PERMISSION_DENIED':
    case 'FAILED_PRECONDITION':
    case 'NOT_FOUND':
    case 'UNIMPLEMENTED':
    case 'OUT_OF_RANGE':
    case 'UNAUTHENTICATED':
    case 'ALREADY_EXISTS':
      return 'refused';
    default:
      return 'ambiguous';
  }
}

/** For the one place where a call's failure leaves the client. */
export function toEtcdError(what: string, error: unknown): BigFleetError {
  if (error instanceof BigFleetError && error.code !== 'deadline_exceeded') return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new BigFleetError(CODES[failureOf(error)], `etcd ${what}: ${detail}`, { cause: error });
}

const CODES: Readonly<Record<EtcdFailure, BigFleetError['code']>> = {
  compacted: 'etcd_compacted',
  'no-space': 'etcd_no_space',
  'lease-not-found': 'etcd_lease_gone',
  refused: 'etcd_refused',
  token: 'etcd_refused',
  ambiguous: 'etcd_unavailable',
  elsewhere: 'etcd_unavailable',
};
