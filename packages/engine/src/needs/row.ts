// One need inside the engine: what it demands, compiled, and what the current cycle found.
// Rows live as long as their roll-up keeps them; folded rows are rebuilt when their cluster's
// demand or supply changes.

import type { CandidateReason } from '@bigfleet/base';
import type { Allowance } from '../model/brakes.ts';
import type { DomainCoverage } from '../model/cycle.ts';
import type { EligibleSet } from '../match/eligible-set.ts';
import type { Need } from '../model/need.ts';
import { isEqual } from '../model/resources.ts';
import type { FoldKey } from './fold-keys.ts';
import type { CompiledProfile } from './compiled-profile.ts';

export interface Row {
  /** Replaced in folded rows only, when the number or the age of their gangs changes. */
  need: Need;
  /** needKey of the need. */
  readonly key: string;
  /** Of profile, group and aggregate, for the input digest. */
  readonly demandHash: number;
  /** Cluster index. */
  readonly cluster: number;
  readonly compiled: CompiledProfile;
  readonly eligible: EligibleSet;
  readonly eligibleKey: string;
  /** Empty for folded rows: their aggregate changes. */
  readonly aggregateKey: string;
  /** Gangs of one size and profile, Same aside; empty for needs without Same. */
  readonly gangKey: string;
  /** Interned group; 0 for plain needs. */
  readonly group: number;
  /** Vector handle of the aggregate. */
  readonly aggregate: number;
  /** The atomic unit is positive wherever the aggregate is, so every eligible class contributes. */
  readonly isAlwaysServed: boolean;
  readonly isFolded: boolean;
  /** Of the arrival; without meaning for folded rows, which have no age in any order. */
  readonly arrivalHigh: number;
  readonly arrivalLow: number;
  readonly result: RowResult;
}

/** Spent slices, paused types, skew, or the need's own brake. */
export type AcquisitionBlock = 'quota' | 'type' | 'spread' | 'brake';

export interface RowResult {
  /** Whether the gang fits on one acquirable machine; undefined for needs without Same. */
  foldKey: FoldKey | undefined;
  /** The change of its cluster's roll-up that it was last part of. */
  keptBy: number;
  /** Place in its cluster's normalised list; claims name it. */
  index: number;
  /** Vector handle: what crediting left open. */
  readonly afterCredit: number;
  /** Vector handle: what acquisition left open. */
  readonly deficit: number;
  isCoveredByCredit: boolean;
  isSatisfied: boolean;
  creditedCount: number;
  bootstrapCount: number;
  provisionCount: number;
  domain: string | undefined;
  isSatisfiable: boolean;
  isParked: boolean;
  isHeldOff: boolean;
  /** Its Configures fail: how many machines it may still try in this cycle. */
  brake: Allowance | undefined;
  awaitingDrainCount: number;
  victimCount: number;
  /** Why Phase 2 found no victim, or `chosen`; undefined when it was not asked. */
  preemptionCode: 'chosen' | CandidateReason | undefined;
  sameCandidates: readonly DomainCoverage[];
  /** Place in the decision record of the cycle. */
  recordPlace: number;
  /** Its list of bound machines in that record, from 1; 0 for none. */
  victimList: number;
  /** Why acquisition stopped short, if it was not for want of machines. */
  blockedBy: AcquisitionBlock | undefined;
}

/** May try no machine at all: its operator refuses it, or its brake leaves it none. */
export function isHeldBack({ isHeldOff, brake }: RowResult): boolean {
  return isHeldOff || brake?.allowed === 0;
}

export function eligibleKeyOf(compiled: CompiledProfile, minUnitKey: string): string {
  return `${compiled.requirementsKey}|unit=${minUnitKey}`;
}

export function isAlwaysServed(need: Need): boolean {
  for (const name of need.aggregate.keys()) if (!need.minUnit.has(name)) return false;
  return true;
}

/** Same demand, so that an unchanged row of a replaced roll-up keeps its compiled form. */
export function isSameDemand(a: Need, b: Need): boolean {
  return (
    a.profile.fingerprint === b.profile.fingerprint &&
    a.group === b.group &&
    a.arrivalUnixNanos === b.arrivalUnixNanos &&
    isEqual(a.aggregate, b.aggregate) &&
    isEqual(a.minUnit, b.minUnit)
  );
}
