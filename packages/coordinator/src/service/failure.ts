// A refused operation as the status that the caller gets. "Not the leader" always carries the hint.

import { RpcError } from '@bigfleet/wire';
import { NOT_LEADER, type Refused } from '../ledger/outcome.ts';
import type { LeaderGate } from './leader-gate.ts';

export function failure(gate: LeaderGate, { status, message }: Refused): RpcError {
  return message === NOT_LEADER ? gate.refusal() : new RpcError(status, message);
}
