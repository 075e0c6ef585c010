// Builders for tests: a machine, a need and a fleet in a few words, valid by default. One core
// is 1000 quanta, so `cores(2)` is what a person would write as cpu: 2.

import { bucketOfDollars, type PenaltyBucket } from '@bigfleet/base';
import { type Brakes, machineTypeKey, noBrakes } from '../model/brakes.ts';
import {
  type CycleInput,
  type CycleMemory,
  type CycleOutput,
  emptyMemory,
  heldOffKey,
} from '../model/cycle.ts';
import { type ActionKindCode, actionKindName } from '../model/action.ts';
import {
  CapacityType,
  type CapacityTypeCode,
  DEFAULT_RELEASE_POLICY,
  type ReleasePolicy,
} from '../model/capacity-type.ts';
import { type Assignment, type Machine, noAssignment, type Withheld } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import { createProfile, type Spread } from '../model/profile.ts';
import { Operator, type Requirement, ZONE_KEY } from '../model/requirement.ts';
import { noResources, type Resources } from '../model/resources.ts';
import { gridOf, State, type StateCode } from '../model/state.ts';

export const RACK_KEY = 'example.com/rack';
export const NOW_MS = 1_000_000_000;

export type StateName = Exclude<keyof typeof State, 'Unspecified'>;

export function cores(count: number): Resources {
  return new Map([['cpu', count * 1000]]);
}

/** In quanta; zeroes are left out, as everywhere in the model. */
export function resources(quanta: Readonly<Record<string, number>>): Resources {
  return new Map(Object.entries(quanta).filter(([, value]) => value > 0));
}

export interface MachineInit {
  readonly id: string;
  readonly state?: StateName;
  readonly cluster?: string;
  /** Stamps everything that serving this need stamps, cluster included. */
  readonly serves?: Need;
  readonly assigned?: Partial<Assignment>;
  readonly provider?: string;
  readonly type?: string;
  readonly zone?: string;
  readonly rack?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly capacityType?: CapacityTypeCode;
  readonly has?: Resources;
  readonly price?: number;
  readonly probability?: number;
  readonly withheld?: Withheld;
}

/** Idle, one core, one dollar, on demand, in zone z1. */
export function machine(init: MachineInit): Machine {
  const state: StateCode = State[init.state ?? 'Idle'];
  const grid = gridOf(state);
  const provider = init.provider ?? 'provider';
  const { serves } = init;
  return {
    id: init.id,
    state,
    provider,
    host: grid.host === 'empty' ? undefined : { provider, ref: `host-${init.id}` },
    cluster: grid.cluster === 'set' ? (init.cluster ?? serves?.cluster ?? 'a') : '',
    instanceType: init.type ?? 'standard',
    zone: init.zone ?? 'z1',
    capacityType: init.capacityType ?? CapacityType.OnDemand,
    labels: new Map([
      ...(init.rack === undefined ? [] : [[RACK_KEY, init.rack] as const]),
      ...Object.entries(init.labels ?? {}),
    ]),
    allocatable: init.has ?? cores(1),
    pricePerHour: init.price ?? 1,
    interruptionProbability: init.probability ?? 0,
    lastError: state === State.Failed ? 'failed by the test' : '',
    assigned: {
      ...(serves === undefined ? noAssignment : assignmentFor(serves)),
      ...init.assigned,
    },
    intendedCluster: state === State.Creating ? (init.cluster ?? serves?.cluster ?? '') : '',
    withheld: init.withheld,
  };
}

/** What Configure stamps for this need. */
export function assignmentFor({ profile, group }: Need): Assignment {
  return {
    priority: profile.priority,
    interruptionBucket: profile.interruptionBucket,
    reclamationBucket: profile.reclamationBucket,
    needFingerprint: profile.fingerprint,
    group,
  };
}

/** `count` machines named prefix1, prefix2, … */
export function machines(count: number, prefix: string, init: Omit<MachineInit, 'id'>): Machine[] {
  return Array.from({ length: count }, (_, at) => machine({ ...init, id: `${prefix}${at + 1}` }));
}

export interface NeedInit {
  readonly cluster?: string;
  readonly wants: Resources;
  readonly unit?: Resources;
  readonly priority?: number;
  /** Dollars, rounded up to a bucket; Infinity is Pinned. */
  readonly interruption?: number;
  readonly reclamation?: number;
  readonly requirements?: readonly Requirement[];
  /** Key of a Same requirement. */
  readonly same?: string;
  readonly sameValues?: readonly string[];
  readonly spread?: readonly Spread[];
  readonly group?: string;
  readonly arrival?: bigint;
}

/** Cluster a, priority 0, no penalties, no requirements, no unit. */
export function need(init: NeedInit): Need {
  const same: Requirement[] =
    init.same === undefined
      ? []
      : [{ key: init.same, operator: Operator.Same, values: init.sameValues ?? [] }];
  return {
    cluster: init.cluster ?? 'a',
    profile: createProfile({
      requirements: [...(init.requirements ?? []), ...same],
      spread: init.spread ?? [],
      priority: init.priority ?? 0,
      interruptionBucket: bucket(init.interruption),
      reclamationBucket: bucket(init.reclamation),
    }),
    aggregate: init.wants,
    minUnit: init.unit ?? noResources,
    group: init.group ?? '',
    arrivalUnixNanos: init.arrival ?? 1n,
  };
}

export const acrossZones = (maxSkew: number): Spread => ({
  topologyKey: ZONE_KEY,
  maxSkew,
  whenUnsatisfiable: 1,
});

export interface FleetInit {
  readonly machines?: readonly Machine[];
  readonly needs?: readonly Need[];
  readonly nowMs?: number;
  readonly idleSinceMs?: ReadonlyMap<string, number>;
  /** Default: every cluster that a machine or need names. */
  readonly reported?: readonly string[];
  readonly quota?: Readonly<Record<string, number>>;
  readonly heldOff?: readonly string[];
  readonly brakes?: Brakes;
  readonly memory?: CycleMemory;
  readonly releasePolicy?: ReleasePolicy;
}

/** What these needs may still try, by need. */
export function brakedNeeds(...needs: readonly (readonly [Need, number])[]): Brakes {
  const entries = needs.map(
    ([{ cluster, profile }, allowed]) =>
      [heldOffKey(cluster, profile.fingerprint), allowed] as const,
  );
  return { ...noBrakes, needs: new Map(entries) };
}

/** What may still be bought of these (provider, instance type). */
export function brakedTypes(...types: readonly (readonly [string, string, number])[]): Brakes {
  const entries = types.map(
    ([provider, instanceType, allowed]) =>
      [machineTypeKey(provider, instanceType), allowed] as const,
  );
  return { ...noBrakes, types: new Map(entries) };
}

/** Idle machines are idle from now on, unless stamped. */
export function fleet(init: FleetInit): CycleInput {
  const all = init.machines ?? [];
  const needs = init.needs ?? [];
  const nowMs = init.nowMs ?? NOW_MS;
  const idle = all.filter(({ state }) => state === State.Idle);
  const clusters = [...all, ...needs].map(({ cluster }) => cluster).filter((name) => name !== '');
  return {
    nowMs,
    machines: all,
    idleSinceMs: init.idleSinceMs ?? new Map(idle.map(({ id }) => [id, nowMs])),
    needs,
    reportedClusters: new Set(init.reported ?? clusters),
    quotaRemaining: new Map(Object.entries(init.quota ?? {})),
    heldOff: new Set(init.heldOff ?? []),
    brakes: init.brakes ?? noBrakes,
    memory: init.memory ?? emptyMemory,
    releasePolicy: init.releasePolicy ?? DEFAULT_RELEASE_POLICY,
  };
}

/** Machine ids of the actions of one kind, in order of emission. */
export function acted(output: CycleOutput, kind: ActionKindCode): string[] {
  return output.actions.filter((action) => action.kind === kind).map(({ machineId }) => machineId);
}

/** `Bootstrap m1`, `Reclaim m2`, …: what a cycle does, at a glance. */
export function told(output: CycleOutput): string[] {
  return output.actions.map(({ kind, machineId }) => `${actionKindName(kind)} ${machineId}`);
}

/** Ids claimed by the verdict at this index, sorted. */
export function claimedBy(output: CycleOutput, index: number): string[] {
  return [...output.claims]
    .filter(([, claimant]) => claimant === index)
    .map(([id]) => id)
    .sort();
}

function bucket(dollars: number | undefined): PenaltyBucket {
  return bucketOfDollars(dollars ?? 0);
}

/** A need of one core. */
export const one = (init: Partial<Parameters<typeof need>[0]> = {}): Need =>
  need({ wants: cores(1), ...init });

/** A cycle as the behaviour tests see it: the oracle and the engine both pass for one. */
export type RunCycle = (input: CycleInput) => CycleOutput;
