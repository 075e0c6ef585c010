// What a cycle takes and gives, as plain values. The oracle works on these directly; the
// engine converts at its edges. Everything that survives from one cycle to the next is in
// here: idle stamps, parking ages and the shortfall ledger. Nothing else is remembered.

import type { UnmetCode, UnmetReasonName } from '@bigfleet/base';
import type { Action } from './action.ts';
import type { ReleasePolicy } from './capacity-type.ts';
import type { Machine } from './machine.ts';
import type { Need } from './need.ts';
import type { Profile } from './profile.ts';
import type { Resources } from './resources.ts';
import type { Brakes } from './brakes.ts';

export interface CycleInput {
  readonly nowMs: number;
  readonly machines: readonly Machine[];
  /** When each Idle machine became idle, by id. */
  readonly idleSinceMs: ReadonlyMap<string, number>;
  /** In any order; the cycle orders them. */
  readonly needs: readonly Need[];
  /** Clusters whose first roll-up has arrived: before it, silence is not "no demand". */
  readonly reportedClusters: ReadonlySet<string>;
  /** Speculative machines that may still be bought, by provider; absent is unlimited. */
  readonly quotaRemaining: ReadonlyMap<string, number>;
  /** (cluster, fingerprint) pairs whose operator refused a bootstrap; see `heldOffKey`. */
  readonly heldOff: ReadonlySet<string>;
  readonly brakes: Brakes;
  readonly memory: CycleMemory;
  readonly releasePolicy: ReleasePolicy;
}

export function heldOffKey(cluster: string, fingerprint: string): string {
  return `${cluster}\u0000${fingerprint}`;
}

export interface CycleMemory {
  /** Fruitless cycles of Same needs, by needKey. */
  readonly parkingAges: ReadonlyMap<string, number>;
  /** By fingerprint. */
  readonly shortfalls: ReadonlyMap<string, Shortfall>;
}

export const emptyMemory: CycleMemory = { parkingAges: new Map(), shortfalls: new Map() };

export interface Shortfall {
  readonly profile: Profile;
  /** Summed over every need of this fingerprint. */
  readonly deficit: Resources;
  readonly minUnit: Resources;
  /** Consecutive cycles, from 1. */
  readonly ageCycles: number;
  readonly reasonCode: UnmetCode;
  readonly clusters: readonly string[];
}

export interface CycleOutput {
  /** Phase 1, Phase 2, Phase 3; at most one per machine. Before the rails. */
  readonly actions: readonly Action[];
  /** One per normalised need, in normalised order. */
  readonly verdicts: readonly Verdict[];
  /** Machine id to index of the verdict whose need claims it. */
  readonly claims: ReadonlyMap<string, number>;
  readonly memory: CycleMemory;
}

export interface Verdict {
  /** As normalised: a folded gang stands for several rows of the roll-up. */
  readonly need: Need;
  readonly satisfied: boolean;
  /** What no claim covers; empty when satisfied. */
  readonly deficit: Resources;
  readonly claimedCount: number;
  readonly bootstrapCount: number;
  readonly provisionCount: number;
  /** The chosen value of the Same key, if one was chosen. */
  readonly sameDomain: string | undefined;
  /** Some domain could cover the whole need. */
  readonly sameSatisfiable: boolean;
  readonly parked: boolean;
  readonly parkedAgeCycles: number;
  /** Only for unsatisfied needs. */
  readonly matchingSupply: MatchingSupply | undefined;
  readonly sameCandidates: readonly DomainCoverage[];
  /** Draining machines credited in Phase 2. */
  readonly awaitingDrainCount: number;
  readonly victimCount: number;
  readonly freed: Resources;
  readonly unmetReason: UnmetReasonName;
  readonly reasonCode: UnmetCode;
}

/** Machines whose shape matches, whoever holds them. */
export interface MatchingSupply {
  readonly idle: number;
  readonly speculative: number;
  readonly configured: number;
}

export interface DomainCoverage {
  readonly domain: string;
  /** 0 to 1000, the worst dimension. */
  readonly coveragePerMille: number;
  readonly satisfiable: boolean;
}

export const SAME_CANDIDATES_SHOWN = 5;
export const PARK_AFTER_CYCLES = 8;
export const REPROBE_EVERY_CYCLES = 32;
export const ESCALATE_AFTER_CYCLES = 5;
