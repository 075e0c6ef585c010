// How many machines a demand means, and how big each is. Seeds and preflight use these and
// nothing else, so that supply and demand cannot drift apart. Every split is deterministic:
// largest remainder, ties by position.

import { assert } from '@bigfleet/base';
import { parseResources, type Resources } from '@bigfleet/engine';
import { meanReplicas, steadyArchetypes } from './distributions.ts';
import { type Archetype, isGang, type QuantityMap, sizesOf } from './schema.ts';

const CORE_RESOURCES: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

export function isExtendedResource(name: string): boolean {
  return !CORE_RESOURCES.has(name) && !name.startsWith('hugepages-');
}

/** `podsPerNode`, else the global density, else 1 for shapes with an extended resource. */
export function podsPerMachine(archetype: Archetype, density: number): number {
  if (archetype.podsPerNode !== undefined) return archetype.podsPerNode;
  const isCoreOnly = sizesOf(archetype).every(({ resources }) =>
    Object.keys(resources).every((name) => !isExtendedResource(name)),
  );
  return isCoreOnly ? density : 1;
}

/** Catalogue quantities in the engine's integers; demand rounds up. */
export function podResources(quantities: QuantityMap): Resources {
  const parsed = parseResources(new Map(Object.entries(quantities)), 'demand');
  assert(parsed.ok, 'a validated catalogue holds quantities', {
    quantities: JSON.stringify(quantities),
  });
  return parsed.value;
}

/**
 * A machine that holds its Pods. Extended resources only multiply when `podsPerNode` is set: a
 * device count does not follow from how densely small Pods are packed.
 */
export function seedAllocatable(
  perPod: Resources,
  archetype: Archetype,
  density: number,
): Resources {
  const factor = podsPerMachine(archetype, density);
  const isScaled = (name: string): boolean =>
    archetype.podsPerNode !== undefined || !isExtendedResource(name);
  return new Map(
    [...perPod].map(([name, value]) => [name, isScaled(name) ? value * factor : value]),
  );
}

/** Machines that the largest gang needs in each zone; 0 for what is no gang or only bursts. */
export function gangFloor(archetype: Archetype): number {
  if (!isGang(archetype) || archetype.burstOnly === true) return 0;
  return (archetype.groupSizeRange?.[1] ?? 0) * archetype.zones.length;
}

export interface ArchetypeShare {
  readonly archetype: Archetype;
  /** Of all Pods in expectation. */
  readonly podShare: number;
  /** Of all machines in expectation. */
  readonly machineShare: number;
}

/** Expected shares of the steady draw; burst-only archetypes are absent. */
export function expectedShares(
  archetypes: readonly Archetype[],
  density: number,
): readonly ArchetypeShare[] {
  const rows = steadyArchetypes(archetypes).map((archetype) => {
    const pods = archetype.weight * meanReplicas(archetype);
    return { archetype, pods, machines: pods / podsPerMachine(archetype, density) };
  });
  const allPods = rows.reduce((sum, { pods }) => sum + pods, 0);
  const allMachines = rows.reduce((sum, { machines }) => sum + machines, 0);
  return rows.map(({ archetype, pods, machines }) => ({
    archetype,
    podShare: pods / allPods,
    machineShare: machines / allMachines,
  }));
}

export interface ArchetypeMachines {
  readonly archetype: Archetype;
  readonly machineCount: number;
}

/** `total` machines by expected share, each gang archetype then raised to its floor. */
export function splitMachines(
  archetypes: readonly Archetype[],
  total: number,
  density: number,
): readonly ArchetypeMachines[] {
  const shares = expectedShares(archetypes, density);
  const counts = largestRemainder(
    shares.map(({ machineShare }) => machineShare),
    total,
  );
  return shares.map(({ archetype }, index) => ({
    archetype,
    machineCount: Math.max(counts[index] ?? 0, gangFloor(archetype)),
  }));
}

/** Whole numbers that sum to `total`, as near to the shares as can be. */
export function largestRemainder(shares: readonly number[], total: number): readonly number[] {
  assert(Number.isInteger(total) && total >= 0, 'a total is a whole number', { total });
  const sum = shares.reduce((a, b) => a + b, 0);
  assert(sum > 0, 'shares of nothing', { sum });
  const exact = shares.map((share) => (share / sum) * total);
  const counts = exact.map(Math.floor);
  const left = total - counts.reduce((a, b) => a + b, 0);
  const order = exact
    .map((value, index) => ({ index, rest: value - Math.floor(value) }))
    .sort((a, b) => b.rest - a.rest || a.index - b.index);
  for (const { index } of order.slice(0, left)) counts[index] = (counts[index] ?? 0) + 1;
  return counts;
}

/** Machines that P Pods of the steady draw really fill, gang floors on top. */
export function effectiveMachines(
  archetypes: readonly Archetype[],
  podCount: number,
  density: number,
): number {
  return expectedShares(archetypes, density).reduce((sum, { archetype, podShare }) => {
    const machines = Math.ceil((podCount * podShare) / podsPerMachine(archetype, density));
    return sum + machines + gangFloor(archetype);
  }, 0);
}

export interface TierOptions {
  readonly effectiveMachines: number;
  readonly configuredFraction: number;
  readonly idleHeadroomFraction: number;
  /** Either a multiple of the effective machines, or an absolute number per shard. */
  readonly speculative: { readonly multiplier: number } | { readonly perShard: number };
  readonly clusterCount: number;
  readonly shardCount: number;
}

export interface SeedTiers {
  /** By cluster ordinal. */
  readonly configuredPerCluster: readonly number[];
  readonly idlePerShard: number;
  readonly speculativePerShard: number;
}

/** All three tiers, always: without Speculative the elastic path is dead code in a run. */
export function seedTiers(options: TierOptions): SeedTiers {
  const { effectiveMachines: effective, speculative, shardCount } = options;
  const configured = Math.round(effective * options.configuredFraction);
  const even: readonly number[] = Array.from({ length: options.clusterCount }, () => 1);
  return {
    configuredPerCluster: largestRemainder(even, configured),
    idlePerShard: Math.ceil((effective * options.idleHeadroomFraction) / shardCount),
    speculativePerShard:
      'perShard' in speculative
        ? speculative.perShard
        : Math.ceil((effective * speculative.multiplier) / shardCount),
  };
}
