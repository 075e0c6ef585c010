// What a workload catalogue says: which kinds of workload a fleet runs, how often, on what, and
// how they want to be placed. Demand generators and inventory seeds read the same object and the
// same sizing functions; when the two drifted apart, Phase 3 reclaimed the seed every cycle.
//
// A node affinity is only ever an instance type or a zone: organisational labels as required
// affinity once made 98.6 % of placements impossible.

import { ZONE_KEY } from '@bigfleet/engine';

/** Racks are the domain of small gangs; zones, the domain of those that no rack can hold. */
export const RACK_KEY = 'topology.bigfleet/rack';
export { ZONE_KEY };

/** Resource name to Kubernetes quantity. */
export type QuantityMap = Readonly<Record<string, string>>;

export interface SizeBucket {
  readonly weight: number;
  readonly resources: QuantityMap;
}

export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
}

export interface Archetype {
  readonly name: string;
  /** Frequency of workload objects: neither of Pods nor of machines. */
  readonly weight: number;
  readonly instanceTypes: readonly string[];
  readonly zones: readonly string[];
  /** Drawn per object. Absent: `resources`. */
  readonly sizeBuckets?: readonly SizeBucket[];
  readonly resources?: QuantityMap;
  /** Absent: the global density for core-only shapes, 1 with an extended resource. */
  readonly podsPerNode?: number;
  /** Drawn uniformly per object. */
  readonly priorityClasses: readonly number[];
  readonly interruptionPenaltyDollars: number;
  readonly reclamationPenaltyDollars: number;
  /** Mean of an exponential; 0 is immortal. */
  readonly meanLifetimeSeconds: number;
  readonly sameRack?: boolean;
  readonly sameZone?: boolean;
  /** Inclusive; of gangs only. */
  readonly groupSizeRange?: readonly [lo: number, hi: number];
  /** The gang is of use before it is complete. */
  readonly allowPartial?: boolean;
  readonly spreadConstraintProb?: number;
  readonly spreadConstraint?: SpreadConstraint;
  /** Only a burst event reaches it: no steady draw, no seed, no gang floor. */
  readonly burstOnly?: boolean;
}

export interface Catalogue {
  readonly name: string;
  readonly archetypes: readonly Archetype[];
  /** What the inventory is seeded for, where a real fleet has drifted from its demand; else all. */
  readonly seedArchetypes?: readonly Archetype[];
  readonly demandArchetypes?: readonly Archetype[];
}

export function isGang(archetype: Archetype): boolean {
  return sameKeyOf(archetype) !== undefined;
}

/** The key of the one Same requirement, if any. */
export function sameKeyOf(archetype: Archetype): string | undefined {
  if (archetype.sameRack === true) return RACK_KEY;
  return archetype.sameZone === true ? ZONE_KEY : undefined;
}

/** The sizes that objects of this archetype draw from, whichever way they were written. */
export function sizesOf(archetype: Archetype): readonly SizeBucket[] {
  if (archetype.sizeBuckets !== undefined) return archetype.sizeBuckets;
  return archetype.resources === undefined ? [] : [{ weight: 1, resources: archetype.resources }];
}
