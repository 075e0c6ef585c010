// Changes, turned into what one side of a what-if is told instead of what was recorded. Choices (which
// machines were never bought, which clusters are copied) come from the seed and the names alone, so that
// the same question gives the same bytes.

import { compareText, createRandom, type Random } from '@bigfleet/base';
import type { ReleasePolicy } from '../model/capacity-type.ts';
import { type Machine, noAssignment } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import type { Resources } from '../model/resources.ts';
import { State } from '../model/state.ts';
import type { WhatIfProblem } from './answer.ts';
import {
  capacityWord,
  type Change,
  describeChange,
  MAX_ADDED_MACHINES,
  type Setting,
  type Subject,
} from './change.ts';
import { isElastic } from './meter.ts';
import type { Survey } from './survey.ts';

/** A copied cluster lives up to so many cycles behind its original. */
const MAX_SHIFT_CYCLES = 60;

type CapacityChange = Extract<Change, { kind: 'capacity' }>;

export interface ClusterCopy {
  readonly name: string;
  readonly shiftCycles: number;
}

export interface ZoneLoss {
  readonly zone: string;
  readonly atMs: number;
}

/** Why the recording cannot be asked this; undefined when it knows everything that a change names. */
export function subjectProblem(
  changes: readonly Change[],
  survey: Survey,
): WhatIfProblem | undefined {
  for (const change of changes) {
    const missing = missingSubject(change, survey);
    if (missing !== undefined) {
      const text = `${describeChange(change)}: the recording has no ${missing}`;
      return { code: 'unknown_subject', text };
    }
    const added = change.kind === 'capacity' ? changedCount(change, survey) : 0;
    if (added > MAX_ADDED_MACHINES) {
      const text = `${describeChange(change)}: ${added} machines more are more than ${MAX_ADDED_MACHINES}`;
      return { code: 'too_many_machines', text };
    }
  }
  return undefined;
}

function missingSubject(change: Change, survey: Survey): string | undefined {
  switch (change.kind) {
    case 'capacity':
      return missingMachine(change, survey);
    case 'price':
    case 'interruption':
      return missingMachine(change.of, survey);
    case 'lose_zone':
      return survey.zones.has(change.zone)
        ? undefined
        : `machine in zone ${JSON.stringify(change.zone)}`;
    case 'clusters':
      return survey.clusters.size > 0 ? undefined : 'cluster with demand';
    case 'demand':
      return change.cluster === '' || survey.clusters.has(change.cluster)
        ? undefined
        : `demand of a cluster ${JSON.stringify(change.cluster)}`;
    case 'hold':
      return undefined;
  }
}

function missingMachine(of: Subject, survey: Survey): string | undefined {
  if ('instanceType' in of) {
    const isKnown = survey.instanceTypes.has(of.instanceType);
    return isKnown ? undefined : `machine of type ${JSON.stringify(of.instanceType)}`;
  }
  const isKnown = survey.capacityTypes.has(of.capacityType);
  return isKnown ? undefined : `${capacityWord(of.capacityType)} machine`;
}

/** With the assumed price and probability; its state and binding are left alone. */
export function changedMachine(changes: readonly Change[], machine: Machine): Machine {
  let { pricePerHour, interruptionProbability } = machine;
  for (const change of changes) {
    if (change.kind !== 'price' && change.kind !== 'interruption') continue;
    if (!isOf(machine, change.of)) continue;
    if (change.kind === 'price') pricePerHour = set(pricePerHour, change.setting);
    else interruptionProbability = Math.min(1, set(interruptionProbability, change.setting));
  }
  return { ...machine, pricePerHour, interruptionProbability };
}

export function changedPolicy(changes: readonly Change[], policy: ReleasePolicy): ReleasePolicy {
  let { onDemandHoldMs, spotHoldMs } = policy;
  for (const change of changes) {
    if (change.kind !== 'hold') continue;
    if (change.of === 'spot') spotHoldMs = change.ms;
    else onDemandHoldMs = change.ms;
  }
  return { onDemandHoldMs, spotHoldMs };
}

export class Assumptions {
  readonly #changes: readonly Change[];
  readonly #dropped = new Set<string>();
  /** How many copies each machine has. */
  readonly #copyCounts = new Map<string, number>();
  readonly #clusterCopies = new Map<string, ClusterCopy[]>();
  readonly zoneLosses: readonly ZoneLoss[];

  constructor(changes: readonly Change[], survey: Survey, seed: string) {
    const random = createRandom(seed);
    this.#changes = changes;
    this.zoneLosses = changes.flatMap((change) =>
      change.kind === 'lose_zone'
        ? [{ zone: change.zone, atMs: survey.startMs + change.afterMs }]
        : [],
    );
    for (const change of changes) {
      if (change.kind === 'capacity') this.#chooseMachines(change, survey, random);
      if (change.kind === 'clusters') this.#chooseClusters(change.addedCount, survey, random);
    }
  }

  #chooseMachines(change: CapacityChange, survey: Survey, random: Random): void {
    const { capacityType } = change;
    const seen = survey.idsOf(capacityType);
    const stream = random.stream(`capacity ${capacityWord(capacityType)}`);
    const ids = drawn(
      seen.filter((id) => !this.#dropped.has(id)),
      stream,
    );
    const count = changedCount(change, survey);
    for (let at = 0; at < -count && at < ids.length; at++) this.#dropped.add(ids[at]!);
    for (let at = 0; at < count && ids.length > 0; at++) {
      const id = ids[at % ids.length]!;
      this.#copyCounts.set(id, (this.#copyCounts.get(id) ?? 0) + 1);
    }
  }

  #chooseClusters(addedCount: number, survey: Survey, random: Random): void {
    const stream = random.stream('clusters');
    const clusters = drawn([...survey.clusters].sort(compareText), stream);
    for (let at = 0; at < addedCount && clusters.length > 0; at++) {
      const cluster = clusters[at % clusters.length]!;
      const copies = this.#clusterCopies.get(cluster) ?? [];
      const name = `${cluster}+${copies.length + 1}`;
      const shiftCycles = 1 + stream.stream(name).below(MAX_SHIFT_CYCLES);
      this.#clusterCopies.set(cluster, [...copies, { name, shiftCycles }]);
    }
  }

  isDropped(id: string): boolean {
    return this.#dropped.has(id);
  }

  machine(machine: Machine): Machine {
    return changedMachine(this.#changes, machine);
  }

  /** Machines that stand beside this one: owned ones wait idle, elastic ones may be bought. */
  copiesOf(machine: Machine): Machine[] {
    const count = this.#copyCounts.get(machine.id) ?? 0;
    return Array.from({ length: count }, (_, at) => {
      const id = copyId(machine.id, at + 1);
      const isBought = !isElastic(machine.capacityType);
      return {
        ...machine,
        id,
        state: isBought ? State.Idle : State.Speculative,
        host: isBought ? { provider: machine.provider, ref: id } : undefined,
        cluster: '',
        lastError: '',
        assigned: noAssignment,
        intendedCluster: '',
        withheld: undefined,
      };
    });
  }

  copyIdsOf(id: string): string[] {
    return Array.from({ length: this.#copyCounts.get(id) ?? 0 }, (_, at) => copyId(id, at + 1));
  }

  policy(policy: ReleasePolicy): ReleasePolicy {
    return changedPolicy(this.#changes, policy);
  }

  needs(cluster: string, needs: readonly Need[]): readonly Need[] {
    let factor = 1;
    for (const change of this.#changes) {
      if (change.kind !== 'demand') continue;
      if (change.cluster === '' || change.cluster === cluster) factor *= change.factor;
    }
    if (factor === 1) return needs;
    return factor === 0 ? [] : needs.map((need) => scaled(need, factor));
  }

  clusterCopies(cluster: string): readonly ClusterCopy[] {
    return this.#clusterCopies.get(cluster) ?? [];
  }
}

/** Machines more; fewer when it is negative. */
function changedCount({ capacityType, by }: CapacityChange, survey: Survey): number {
  return 'share' in by ? Math.round(by.share * survey.idsOf(capacityType).length) : by.count;
}

function copyId(id: string, number: number): string {
  return `${id}+${number}`;
}

/** In an order that depends on the seed and the names, and on nothing else. */
function drawn(names: readonly string[], random: Random): string[] {
  const lots = names.map((name) => ({ name, lot: random.stream(name).uint32() }));
  lots.sort((a, b) => a.lot - b.lot || compareText(a.name, b.name));
  return lots.map(({ name }) => name);
}

function isOf(machine: Machine, of: Subject): boolean {
  return 'instanceType' in of
    ? machine.instanceType === of.instanceType
    : machine.capacityType === of.capacityType;
}

function set(recorded: number, setting: Setting): number {
  return 'factor' in setting ? recorded * setting.factor : setting.value;
}

/** More units or fewer; a unit stays what it is. */
function scaled(need: Need, factor: number): Need {
  const aggregate: Resources = new Map(
    [...need.aggregate].map(([name, quanta]) => [
      name,
      Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(quanta * factor)),
    ]),
  );
  return { ...need, aggregate };
}
