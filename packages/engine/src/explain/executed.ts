// The fleet after a cycle's actions were carried out without faults and every drain has ended:
// the state in which a preemption has paid off. Demand stays as it was, so that the next cycle
// shows who is short now.

import type { CycleInput, CycleOutput } from '../model/cycle.ts';
import { type Action, ActionKind } from '../model/action.ts';
import { CapacityType } from '../model/capacity-type.ts';
import { type Machine, noAssignment } from '../model/machine.ts';
import { State } from '../model/state.ts';

export function executed(input: CycleInput, output: CycleOutput): CycleInput {
  const actions = new Map(output.actions.map((action) => [action.machineId, action]));
  const machines = input.machines.map((machine) => {
    const action = actions.get(machine.id);
    if (action !== undefined) return afterAction(machine, action, output);
    return machine.state === State.Draining ? idled(machine) : machine;
  });
  return {
    ...withMachines(input, machines),
    quotaRemaining: quotaAfter(input, actions),
    memory: output.memory,
  };
}

/** Idle machines keep their stamp, new ones are idle from now on. */
export function withMachines(input: CycleInput, machines: readonly Machine[]): CycleInput {
  const wasIdle = new Set(
    input.machines.filter(({ state }) => state === State.Idle).map(({ id }) => id),
  );
  const idleSinceMs = new Map<string, number>();
  for (const { id, state } of machines) {
    if (state !== State.Idle) continue;
    const stamp = wasIdle.has(id) ? input.idleSinceMs.get(id) : input.nowMs;
    if (stamp !== undefined) idleSinceMs.set(id, stamp);
  }
  return { ...input, machines, idleSinceMs };
}

export function idled(machine: Machine): Machine {
  return {
    ...machine,
    state: State.Idle,
    host: machine.host ?? newHost(machine),
    cluster: '',
    assigned: noAssignment,
    intendedCluster: '',
  };
}

function afterAction(machine: Machine, action: Action, output: CycleOutput): Machine {
  switch (action.kind) {
    case ActionKind.Bootstrap:
    case ActionKind.Provision:
      return bound(machine, action, output);
    case ActionKind.Reclaim:
    case ActionKind.Preempt:
      return idled(machine);
    case ActionKind.Delete:
      return { ...machine, state: State.Speculative, host: undefined, assigned: noAssignment };
  }
}

function bound(machine: Machine, { cluster }: Action, output: CycleOutput): Machine {
  const need = output.verdicts[output.claims.get(machine.id) ?? -1]?.need;
  const { profile, group } = need ?? {};
  return {
    ...machine,
    state: State.Configured,
    host: machine.host ?? newHost(machine),
    cluster,
    assigned:
      profile === undefined
        ? noAssignment
        : {
            priority: profile.priority,
            interruptionBucket: profile.interruptionBucket,
            reclamationBucket: profile.reclamationBucket,
            needFingerprint: profile.fingerprint,
            group: group ?? '',
          },
  };
}

function newHost({ provider, id }: Machine): Machine['host'] {
  return { provider, ref: id };
}

/** A slice counts elastic machines that exist. */
function quotaAfter(
  { quotaRemaining, machines }: CycleInput,
  actions: ReadonlyMap<string, Action>,
): ReadonlyMap<string, number> {
  const quota = new Map(quotaRemaining);
  for (const { id, provider, capacityType } of machines) {
    const kind = actions.get(id)?.kind;
    const left = quota.get(provider);
    const isElastic = capacityType === CapacityType.OnDemand || capacityType === CapacityType.Spot;
    if (left === undefined || !isElastic) continue;
    if (kind === ActionKind.Provision) quota.set(provider, Math.max(0, left - 1));
    if (kind === ActionKind.Delete) quota.set(provider, left + 1);
  }
  return quota;
}
