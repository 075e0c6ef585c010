// Engine §7: bound machines that no need claims are reclaimed, idle ones whose hold ran out are given
// back. No satisfaction arithmetic of its own: a second walk over supply once made Phase 1
// provision exactly what Phase 3 reclaimed.

import { compareText } from '@bigfleet/base';
import { type Action, ActionKind, RECLAIM_GRACE_SECONDS } from '../model/action.ts';
import { holdMs } from '../model/capacity-type.ts';
import type { Machine } from '../model/machine.ts';
import { State } from '../model/state.ts';
import type { Ledger } from './ledger.ts';
import { compareRelease, isOursIn } from './rules.ts';

/** Clusters by name, release order inside each, so that a capped cycle sheds the costliest. */
export function reclaimExcess(ledger: Ledger): Action[] {
  const { machines, reportedClusters } = ledger.input;
  return machines
    .filter(
      (machine) =>
        isOursIn(machine, State.Configured) &&
        reportedClusters.has(machine.cluster) &&
        !ledger.claims.has(machine.id),
    )
    .sort((a, b) => compareText(a.cluster, b.cluster) || compareRelease(a, b))
    .map((machine) => ({
      kind: ActionKind.Reclaim,
      machineId: machine.id,
      cluster: machine.cluster,
      fingerprint: '',
      group: '',
      graceSeconds: RECLAIM_GRACE_SECONDS,
      preemptorPriority: 0,
      reason: 'phase3.excess',
    }));
}

/** Not gated by the first roll-up: an idle machine belongs to nobody. Ids ascending. */
export function releaseIdle(ledger: Ledger): Action[] {
  return ledger.input.machines
    .filter(
      (machine) =>
        isOursIn(machine, State.Idle) &&
        !ledger.claims.has(machine.id) &&
        isHoldOver(ledger, machine),
    )
    .sort((a, b) => compareText(a.id, b.id))
    .map((machine) => ({
      kind: ActionKind.Delete,
      machineId: machine.id,
      cluster: '',
      fingerprint: '',
      group: '',
      graceSeconds: 0,
      preemptorPriority: 0,
      reason: 'phase3.release',
    }));
}

/** Without a stamp the machine counts as idle from now: held longer, never shorter (engine §7.3). */
function isHoldOver(ledger: Ledger, machine: Machine): boolean {
  const { nowMs, idleSinceMs, releasePolicy } = ledger.input;
  const since = idleSinceMs.get(machine.id);
  return since !== undefined && nowMs - since >= holdMs(machine.capacityType, releasePolicy);
}
