// The closed step: what the inventory looks like after a cycle's actions were executed without
// faults. Instant by default; creates, configures and drains can be left in flight, because a
// synchronous world hides every bug of an asynchronous one.

import type { CycleInput, CycleOutput } from '../model/cycle.ts';
import { type Action, ActionKind } from '../model/action.ts';
import { CapacityType } from '../model/capacity-type.ts';
import { type Machine, noAssignment } from '../model/machine.ts';
import { State } from '../model/state.ts';
import { assignmentFor } from './build.ts';

export interface Staging {
  /** Provisioned machines stay Creating, attributed to their need. */
  readonly creates?: boolean;
  /** Bootstrapped machines stay Configuring. */
  readonly configures?: boolean;
  /** Reclaimed and preempted machines stay Draining. */
  readonly drains?: boolean;
  /** Default 0: holds never run out by waiting. */
  readonly elapsedMs?: number;
}

export function applyActions(
  input: CycleInput,
  output: CycleOutput,
  staging: Staging = {},
): CycleInput {
  const byMachine = new Map(output.actions.map((action) => [action.machineId, action]));
  const nowMs = input.nowMs + (staging.elapsedMs ?? 0);
  const machines = input.machines.map((machine) => {
    const action = byMachine.get(machine.id);
    return action === undefined ? machine : afterAction(machine, action, output, staging);
  });
  return {
    ...input,
    nowMs,
    machines,
    idleSinceMs: restamp(input, machines, nowMs),
    quotaRemaining: quotaAfter(input, byMachine),
    memory: output.memory,
  };
}

/** Every machine of these states, one state on, as if its transition completed. */
export function mature(input: CycleInput, isDone: (machine: Machine) => boolean): CycleInput {
  const machines = input.machines.map((machine) => (isDone(machine) ? matured(machine) : machine));
  return { ...input, machines, idleSinceMs: restamp(input, machines, input.nowMs) };
}

function afterAction(
  machine: Machine,
  action: Action,
  output: CycleOutput,
  staging: Staging,
): Machine {
  switch (action.kind) {
    case ActionKind.Provision:
      return staging.creates === true
        ? {
            ...machine,
            state: State.Creating,
            intendedCluster: action.cluster,
            assigned: {
              ...noAssignment,
              needFingerprint: action.fingerprint,
              group: action.group,
            },
          }
        : bound({ ...machine, host: hostOf(machine) }, action, output, staging);
    case ActionKind.Bootstrap:
      return bound(machine, action, output, staging);
    case ActionKind.Reclaim:
    case ActionKind.Preempt:
      return staging.drains === true ? { ...machine, state: State.Draining } : idled(machine);
    case ActionKind.Delete:
      return { ...machine, state: State.Speculative, host: undefined };
  }
}

function bound(machine: Machine, action: Action, output: CycleOutput, staging: Staging): Machine {
  const verdict = output.verdicts[output.claims.get(machine.id) ?? -1];
  if (verdict === undefined) throw new Error(`${machine.id} is acquired but not claimed`);
  return {
    ...machine,
    state: staging.configures === true ? State.Configuring : State.Configured,
    cluster: action.cluster,
    assigned: assignmentFor(verdict.need),
  };
}

function idled(machine: Machine): Machine {
  return {
    ...machine,
    state: State.Idle,
    host: hostOf(machine),
    cluster: '',
    assigned: noAssignment,
    intendedCluster: '',
  };
}

function matured(machine: Machine): Machine {
  if (machine.state === State.Creating || machine.state === State.Draining) return idled(machine);
  if (machine.state === State.Configuring) return { ...machine, state: State.Configured };
  return machine;
}

function hostOf(machine: Machine): Machine['host'] {
  return machine.host ?? { provider: machine.provider, ref: `host-${machine.id}` };
}

/** Idle machines keep their stamp; new ones start now; what left Idle loses it (engine §7.3). */
function restamp(
  input: CycleInput,
  machines: readonly Machine[],
  nowMs: number,
): ReadonlyMap<string, number> {
  const wasIdle = new Set(
    input.machines.filter(({ state }) => state === State.Idle).map(({ id }) => id),
  );
  const stamps = new Map<string, number>();
  for (const { id, state } of machines) {
    if (state !== State.Idle) continue;
    const stamp = wasIdle.has(id) ? input.idleSinceMs.get(id) : nowMs;
    if (stamp !== undefined) stamps.set(id, stamp);
  }
  return stamps;
}

/** A slice counts elastic machines that are not Speculative (coordinator §7.4). */
function quotaAfter(
  input: CycleInput,
  byMachine: ReadonlyMap<string, Action>,
): ReadonlyMap<string, number> {
  const quota = new Map(input.quotaRemaining);
  for (const { id, provider, capacityType } of input.machines) {
    const left = quota.get(provider);
    const kind = byMachine.get(id)?.kind;
    const isElastic = capacityType === CapacityType.OnDemand || capacityType === CapacityType.Spot;
    if (left === undefined || !isElastic) continue;
    if (kind === ActionKind.Provision) quota.set(provider, left - 1);
    if (kind === ActionKind.Delete) quota.set(provider, left + 1);
  }
  return quota;
}
