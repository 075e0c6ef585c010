// Steps 3 to 5 of the processing order, as a pure function: existence, idempotent replay,
// position. The idempotency key is (machine, kind): Create and Drain share the target Idle, so the
// target alone would confuse them, and token, connection and request bytes never matter.

import type { MachineRecord, OperationKind } from '../model/machine.ts';
import { edges } from '../model/transitions.ts';
import type { StoredOperation } from '../store/store.ts';

export type Decision =
  | { readonly kind: 'unknown' }
  /** The same operation id again; no work is started. */
  | { readonly kind: 'replay'; readonly operationId: string; readonly record: MachineRecord }
  | { readonly kind: 'out_of_position'; readonly record: MachineRecord }
  | { readonly kind: 'accept'; readonly record: MachineRecord };

export function decide(
  kind: OperationKind,
  record: MachineRecord | undefined,
  operation: StoredOperation | undefined,
): Decision {
  if (record === undefined) return { kind: 'unknown' };
  const { start, transitional, target } = edges[kind];
  const isDoneOrUnderWay = record.state === transitional || record.state === target;
  if (operation !== undefined && isDoneOrUnderWay) {
    return { kind: 'replay', operationId: operation.operationId, record };
  }
  return { kind: record.state === start ? 'accept' : 'out_of_position', record };
}
