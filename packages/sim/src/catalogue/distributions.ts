// The laws that workload objects are drawn by, as pure functions of an injected stream. One
// stream per consumer: a new consumer must not shift the draws of another.

import { assert, type Random } from '@bigfleet/base';
import {
  type Archetype,
  isGang,
  type QuantityMap,
  sizesOf,
  type SpreadConstraint,
} from './schema.ts';

interface ReplicaBand {
  readonly percent: number;
  readonly lo: number;
  readonly hi: number;
}

/** Most workloads are small, a few are huge; the mean is 21.375. */
export const REPLICA_BANDS: readonly ReplicaBand[] = [
  { percent: 55, lo: 1, hi: 5 },
  { percent: 30, lo: 6, hi: 25 },
  { percent: 12, lo: 26, hi: 100 },
  { percent: 3, lo: 101, hi: 400 },
];

/** Stateful workloads do not grow into the hundreds. */
export const STATEFUL_REPLICAS_MAX = 25;

const STATEFUL_NAMES: ReadonlySet<string> = new Set(['memory-cache', 'stateful-db']);

export function objectKindOf(archetype: Archetype): 'StatefulSet' | 'Deployment' {
  return STATEFUL_NAMES.has(archetype.name) ? 'StatefulSet' : 'Deployment';
}

/** Uniform in [lo, hi], both ends included. */
export function uniformInt(random: Random, lo: number, hi: number): number {
  assert(Number.isInteger(lo) && Number.isInteger(hi) && lo <= hi, 'empty range', { lo, hi });
  return lo + random.below(hi - lo + 1);
}

/** One of the entries, by weight. */
export function weightedPick<T extends { readonly weight: number }>(
  random: Random,
  entries: readonly T[],
): T {
  const total = entries.reduce((sum, { weight }) => sum + weight, 0);
  let rest = random.float() * total;
  for (const entry of entries) {
    rest -= entry.weight;
    if (rest < 0) return entry;
  }
  // Only rounding in the sum ends here; the draw then fell on the last entry.
  const last = entries.at(-1);
  assert(last !== undefined, 'nothing to pick from');
  return last;
}

/** Archetypes that a steady draw reaches. */
export function steadyArchetypes(archetypes: readonly Archetype[]): readonly Archetype[] {
  return archetypes.filter(({ burstOnly }) => burstOnly !== true);
}

function drawFromReplicaLaw(random: Random): number {
  let percent = random.below(100);
  for (const band of REPLICA_BANDS) {
    if (percent < band.percent) return uniformInt(random, band.lo, band.hi);
    percent -= band.percent;
  }
  throw new Error('the replica bands do not add up to 100 %');
}

/** Pods of one object: of a gang its size, of anything else a draw from the replica law. */
export function drawReplicas(random: Random, archetype: Archetype): number {
  if (isGang(archetype)) {
    const [lo, hi] = gangRangeOf(archetype);
    return uniformInt(random, lo, hi);
  }
  const drawn = drawFromReplicaLaw(random);
  return objectKindOf(archetype) === 'StatefulSet' ? Math.min(drawn, STATEFUL_REPLICAS_MAX) : drawn;
}

/** The expectation of `drawReplicas`, exactly. */
export function meanReplicas(archetype: Archetype): number {
  if (isGang(archetype)) {
    const [lo, hi] = gangRangeOf(archetype);
    return (lo + hi) / 2;
  }
  const cap =
    objectKindOf(archetype) === 'StatefulSet' ? STATEFUL_REPLICAS_MAX : Number.POSITIVE_INFINITY;
  return REPLICA_BANDS.reduce((sum, { percent, lo, hi }) => {
    return sum + (percent / 100) * meanCapped(lo, hi, cap);
  }, 0);
}

/** Mean of min(cap, U[lo, hi]). */
function meanCapped(lo: number, hi: number, cap: number): number {
  if (hi <= cap) return (lo + hi) / 2;
  if (lo >= cap) return cap;
  const below = ((lo + cap) / 2) * (cap - lo + 1);
  return (below + cap * (hi - cap)) / (hi - lo + 1);
}

export function drawSize(random: Random, archetype: Archetype): QuantityMap {
  return weightedPick(random, sizesOf(archetype)).resources;
}

export function drawPriority(random: Random, archetype: Archetype): number {
  const priority = archetype.priorityClasses[random.below(archetype.priorityClasses.length)];
  assert(priority !== undefined, 'an archetype without priority', { name: archetype.name });
  return priority;
}

/** Seconds; Infinity for immortal ones. */
export function drawLifetimeSeconds(random: Random, archetype: Archetype): number {
  if (archetype.meanLifetimeSeconds === 0) return Number.POSITIVE_INFINITY;
  return -Math.log(1 - random.float()) * archetype.meanLifetimeSeconds;
}

/** A Bernoulli trial per object; the draw happens for every archetype that could spread. */
export function drawSpread(random: Random, archetype: Archetype): SpreadConstraint | undefined {
  const { spreadConstraint, spreadConstraintProb: probability = 0 } = archetype;
  if (spreadConstraint === undefined) return undefined;
  return random.float() < probability ? spreadConstraint : undefined;
}

function gangRangeOf(archetype: Archetype): readonly [number, number] {
  assert(archetype.groupSizeRange !== undefined, 'a gang without sizes', { name: archetype.name });
  return archetype.groupSizeRange;
}
