// One audit line for everything that was decided to be done: how it ended, or what held it back.

import type { ActionKind, ExecuteOutcome, SkippedOutcome } from '@bigfleet/base';
import { actionKindName } from '@bigfleet/engine';
import type { AuditLog } from '../audit/audit-log.ts';
import type { ShardObserver } from '../core/observer.ts';
import type { ActionOrder } from '../execute/order.ts';

export function createAuditObserver(
  audit: AuditLog,
  cycleCount: () => number,
): Partial<ShardObserver> {
  const record = (order: ActionOrder, outcome: ExecuteOutcome | SkippedOutcome): void => {
    const { kind, machineId, cluster, reason, graceSeconds } = order;
    audit.action({
      cycle: cycleCount(),
      kind: actionKindName(kind) as ActionKind,
      machine: machineId,
      cluster,
      reason,
      graceSeconds,
      outcome,
    });
  };
  return { onExecuted: record, onWithheld: record };
}
