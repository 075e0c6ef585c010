// How an operation on the fleet ends, in the terms of the service (coordinator §4.1): done, with the
// index of the commit for the audit line, or refused with a status and a text for people. The one
// place where an answer of the ledger becomes a status.

import type { FailureCode } from '@bigfleet/wire';
import type { RefusalCode } from '../state/decide/decision.ts';
import type { ApplyResult } from './ledger.ts';

export type Outcome =
  /** `index` is absent when everything was so already. */
  { readonly kind: 'done'; readonly index: number | undefined } | Refused;

export interface Refused {
  readonly kind: 'refused';
  readonly status: FailureCode;
  readonly message: string;
}

export const NOT_LEADER = 'coordinator: not leader';

const STATUS: Readonly<Record<RefusalCode, FailureCode>> = {
  invalid: 'INVALID_ARGUMENT',
  'shard-exists': 'ALREADY_EXISTS',
  'shard-not-found': 'NOT_FOUND',
  'cluster-bound-elsewhere': 'ALREADY_EXISTS',
  'domain-assigned-elsewhere': 'ALREADY_EXISTS',
  'domain-releasing': 'ABORTED',
  'provider-not-found': 'NOT_FOUND',
  'provider-in-use': 'ABORTED',
  'quota-exceeded': 'INVALID_ARGUMENT',
  'transfer-not-found': 'NOT_FOUND',
  'transfer-conflict': 'ABORTED',
  'override-conflict': 'ABORTED',
  'override-limit': 'RESOURCE_EXHAUSTED',
};

export function refused(status: FailureCode, message: string): Refused {
  return { kind: 'refused', status, message };
}

export function notLeader(): Refused {
  return refused('FAILED_PRECONDITION', NOT_LEADER);
}

export function outcomeOf(result: ApplyResult): Outcome {
  switch (result.kind) {
    case 'applied':
      return { kind: 'done', index: result.index };
    case 'unchanged':
      return { kind: 'done', index: undefined };
    case 'refused':
      return refused(STATUS[result.refusal.code], result.refusal.message);
    case 'not-leader':
      return notLeader();
    case 'busy':
      return refused('RESOURCE_EXHAUSTED', 'coordinator: too many commands are waiting');
    case 'unavailable':
      return refused('UNAVAILABLE', `coordinator: ${result.message}`);
  }
}
