// Tier 3 (coordinator §9.4): machines of ours drained for a need of another shard. The owner decides
// which, by the ordinary victim score, and drains them by the ordinary preemption: operator first,
// grace by the priority gap. Ownership does not move; what becomes idle is kept for a while, so that
// our own Phase 3 does not give it back before it can be asked for.

import {
  ActionKind,
  add,
  drainGraceSeconds,
  type Machine,
  noResources,
  printResources,
  State,
} from '@bigfleet/engine';
import type { ActionOrder } from '../execute/execution.ts';
import type { ControlParts } from './open-ownership.ts';
import { giveCandidates, resolveVictims } from './selection.ts';
import { failed, rejected, type ForeignDrainOrder, type OrderOutcome } from './shard-control.ts';

export async function drainForAnother(
  parts: ControlParts,
  order: ForeignDrainOrder,
): Promise<OrderOutcome> {
  const victims = await chooseVictims(parts, order);
  if (victims.length === 0) {
    return rejected('no_eligible_machines', 'no machine here serves cheaper and less urgent work');
  }
  if (!parts.reservations.hasRoomFor(victims.length)) {
    return failed('', 'too many machines are reserved for other shards already');
  }
  const taken = victims.filter((victim) => drain(parts, order, victim));
  if (taken.length === 0) return failed('', 'the execute queue is full');
  return {
    kind: 'accepted',
    machineIds: taken.map(({ machine }) => machine.id),
    covered: printResources(
      taken.reduce((covered, { machine }) => add(covered, machine.allocatable), noResources),
    ),
  };
}

interface ChosenVictim {
  readonly machine: Machine;
  readonly priority: number;
}

async function chooseVictims(
  parts: ControlParts,
  { selector, preemptor, machineIds, toShardId }: ForeignDrainOrder,
): Promise<readonly ChosenVictim[]> {
  const only = new Set(machineIds);
  const bound = (giveCandidates(parts, { state: State.Configured, selector, toShardId }) ?? [])
    .filter(({ id, withheld }) => withheld === undefined && (only.size === 0 || only.has(id)))
    // The stamp is a lower bound of what protects the machine: who fails by it need not be asked.
    .filter(({ assigned }) => assigned.priority < preemptor.priority);
  if (bound.length === 0) return [];
  const priorities = await parts.host.priorities(bound.map(({ id }) => id));
  const priorityOf = new Map(bound.map(({ id }, at) => [id, priorities[at] ?? Infinity]));
  const chosen = resolveVictims(
    bound,
    selector,
    preemptor,
    ({ id }) => priorityOf.get(id) ?? Infinity,
  );
  const ids = new Set(chosen.machineIds);
  return bound
    .filter(({ id }) => ids.has(id))
    .map((machine) => ({ machine, priority: priorityOf.get(machine.id) ?? Infinity }));
}

function drain(
  { core, reservations }: ControlParts,
  { preemptor, toShardId, reserveTtlMs }: ForeignDrainOrder,
  { machine, priority }: ChosenVictim,
): boolean {
  const { fleet } = core;
  const { id: machineId, cluster } = machine;
  const graceSeconds = drainGraceSeconds(preemptor.priority - priority);
  const order: ActionOrder = {
    kind: ActionKind.Preempt,
    handle: fleet.handleOf(fleet.inventory.slotOf(machineId)),
    machineId,
    cluster,
    need: undefined,
    graceSeconds,
    preemptorPriority: preemptor.priority,
    reason: 'coordinator.cross_shard_drain',
    cycle: core.cycleCount,
  };
  if (fleet.inventory.slotOf(machineId) < 0 || !core.offer(order)) return false;
  const drainMs = graceSeconds * 1_000;
  const reservation = { recipient: toShardId, ttlMs: reserveTtlMs, drainMs };
  reservations.reserve(machineId, reservation, fleet.nowMs());
  return true;
}
