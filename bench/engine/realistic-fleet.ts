// realistic-50k and realistic-500k: demand drawn object by object from the catalogue `realistic`,
// supply sized by the same catalogue. Per cluster some 740 workload objects: nine plain rows (an
// archetype with and without its spread) and about 121 gangs, a row each.
//
// Each tier holds the archetypes in the calibrated machine mix. Configured covers 98 % of the
// expected demand, a fifth as much is Idle, the rest of the stated records is Speculative. Racks
// hold 50 machines of one archetype, the tiers spread evenly over them; bound machines of gangs
// carry no gang stamp, so the full pass chooses every domain.

import { bucketOfDollars, type Random } from '@bigfleet/base';
import {
  type Assignment,
  CapacityType,
  createProfile,
  type Need,
  Operator,
  type Profile,
  type Resources,
  State,
  type StateCode,
  ZONE_KEY,
} from '@bigfleet/engine';
import {
  type Archetype,
  drawPriority,
  drawReplicas,
  drawSize,
  drawSpread,
  isGang,
  largestRemainder,
  meanReplicas,
  podResources,
  podsPerMachine,
  realistic,
  sameKeyOf,
  seedAllocatable,
  sizesOf,
  type SpreadConstraint,
  splitMachines,
  steadyArchetypes,
  weightedPick,
} from '@bigfleet/sim';
import { typeIn } from './cycle-fleet.ts';
import { nudge } from './churn.ts';
import { clusterNames, type Fleet, flat, type SeedFleet } from './fleet.ts';
import { plus, times } from './resources.ts';

export interface RealisticSize {
  readonly records: number;
  readonly clusters: number;
}

const OBJECTS_PER_CLUSTER = 740;
const CONFIGURED_SHARE = 0.98;
const IDLE_SHARE = 0.2;
const MACHINES_PER_RACK = 50;
const DENSITY = 100;
const ON_DEMAND_DOLLARS = 1;

const archetypes = steadyArchetypes(realistic.archetypes);

export function seedRealistic({ records, clusters }: RealisticSize): SeedFleet {
  return (fleet, random) => {
    const names = clusterNames(clusters);
    addMachines(fleet, names, records);
    return () => {
      const draw = random.stream('objects');
      for (const name of names) fleet.demand(name, drawRollup(name, draw));
    };
  };
}

/** Machines that the objects of one cluster fill in expectation. */
function expectedMachinesPerCluster(): number {
  const totalWeight = archetypes.reduce((sum, { weight }) => sum + weight, 0);
  const perObject = archetypes.reduce(
    (sum, archetype) =>
      sum +
      ((archetype.weight / totalWeight) * meanReplicas(archetype)) /
        podsPerMachine(archetype, DENSITY),
    0,
  );
  return perObject * OBJECTS_PER_CLUSTER;
}

function addMachines(fleet: Fleet, clusters: readonly string[], records: number): void {
  const effective = expectedMachinesPerCluster() * clusters.length;
  const configured = Math.round(effective * CONFIGURED_SHARE);
  const idle = Math.round(effective * IDLE_SHARE);
  const tiers: readonly (readonly [StateCode, number])[] = [
    [State.Configured, configured],
    [State.Idle, idle],
    [State.Speculative, records - configured - idle],
  ];
  const splits = tiers.map(([, count]) => splitMachines(archetypes, count, DENSITY));
  for (const [at, archetype] of archetypes.entries()) {
    const counts = splits.map((split) => split[at]?.machineCount ?? 0);
    const total = counts.reduce((sum, count) => sum + count, 0);
    const racks = Math.ceil(total / MACHINES_PER_RACK);
    for (const [tier, [state]] of tiers.entries()) {
      const count = counts[tier]!;
      addTier(fleet, { archetype, state, count, racks, clusters });
    }
  }
}

interface Tier {
  readonly archetype: Archetype;
  readonly state: StateCode;
  readonly count: number;
  readonly racks: number;
  readonly clusters: readonly string[];
}

function addTier(fleet: Fleet, { archetype, state, count, racks, clusters }: Tier): void {
  const sizes = sizesOf(archetype);
  const bySize = largestRemainder(
    sizes.map(({ weight }) => weight),
    10,
  );
  const shapes = sizes.flatMap(({ resources }, at) => {
    const allocatable = seedAllocatable(podResources(resources), archetype, DENSITY);
    return Array.from({ length: bySize[at]! }, () => allocatable);
  });
  const assigned = stampOf(archetype);
  for (let at = 0; at < count; at++) {
    const rack = Math.floor((at * racks) / count);
    const zone = archetype.zones[rack % archetype.zones.length] as string;
    const isBound = state === State.Configured;
    fleet.add({
      state,
      instanceType: archetype.instanceTypes[at % archetype.instanceTypes.length] as string,
      zone,
      rack: flat(`${zone}-${archetype.name}-${rack}`),
      allocatable: shapes[(at * 7) % shapes.length] as Resources,
      ...(isBound
        ? { cluster: clusters[Math.floor((at * clusters.length) / count)] as string, assigned }
        : {}),
      ...(state === State.Speculative
        ? { capacityType: CapacityType.OnDemand, pricePerHour: ON_DEMAND_DOLLARS }
        : {}),
    });
  }
}

function stampOf(archetype: Archetype): Assignment {
  const { priority, interruptionBucket, reclamationBucket, fingerprint } = profileOf(
    archetype,
    archetype.priorityClasses[0]!,
    undefined,
  );
  const needFingerprint = isGang(archetype) ? '' : fingerprint;
  return { priority, interruptionBucket, reclamationBucket, needFingerprint, group: '' };
}

function profileOf(
  archetype: Archetype,
  priority: number,
  spread: SpreadConstraint | undefined,
): Profile {
  const same = sameKeyOf(archetype);
  const whenUnsatisfiable = spread?.whenUnsatisfiable === 'DoNotSchedule' ? 1 : 2;
  return createProfile({
    requirements: [
      typeIn(...archetype.instanceTypes),
      { key: ZONE_KEY, operator: Operator.In, values: archetype.zones },
      ...(same === undefined ? [] : [{ key: same, operator: Operator.Same, values: [] }]),
    ],
    spread: spread === undefined ? [] : [{ ...spread, whenUnsatisfiable }],
    priority,
    interruptionBucket: bucketOfDollars(archetype.interruptionPenaltyDollars),
    reclamationBucket: bucketOfDollars(archetype.reclamationPenaltyDollars),
  });
}

/** Rows of one cluster: objects of equal profile add up, a gang keeps its own. */
function drawRollup(cluster: string, random: Random): Need[] {
  const plain = new Map<string, Need>();
  const gangs: Need[] = [];
  for (let object = 0; object < OBJECTS_PER_CLUSTER; object++) {
    const archetype = weightedPick(random, archetypes);
    const unit = podResources(drawSize(random, archetype));
    const profile = cached(
      archetype,
      drawPriority(random, archetype),
      drawSpread(random, archetype),
    );
    const need: Need = {
      cluster,
      profile,
      aggregate: times(unit, drawReplicas(random, archetype)),
      minUnit: unit,
      group: isGang(archetype) ? flat(`${archetype.name}-${object}`) : '',
      arrivalUnixNanos: BigInt(1 + random.below(1_000_000)) * 1_000_000_000n,
    };
    if (need.group !== '') gangs.push(need);
    else plain.set(profile.fingerprint, merged(plain.get(profile.fingerprint), need));
  }
  return [...plain.values(), ...gangs];
}

function merged(known: Need | undefined, need: Need): Need {
  if (known === undefined) return need;
  const minUnit = new Map(known.minUnit);
  for (const [name, value] of need.minUnit) {
    minUnit.set(name, Math.max(value, minUnit.get(name) ?? 0));
  }
  return { ...known, aggregate: plus(known.aggregate, need.aggregate), minUnit };
}

const profiles = new Map<string, Profile>();

/** One object per profile, as a decoder that interns would keep. */
function cached(
  archetype: Archetype,
  priority: number,
  spread: SpreadConstraint | undefined,
): Profile {
  const key = `${archetype.name}|${priority}|${spread === undefined}`;
  let profile = profiles.get(key);
  if (profile === undefined) profiles.set(key, (profile = profileOf(archetype, priority, spread)));
  return profile;
}

/** A gang is scaled to another size of its range; a plain row moves by a quantum. */
export function changeRealistic(need: Need, random: Random): Need {
  if (need.group === '') return nudge(need);
  const archetype = archetypes.find(({ name }) => need.group.startsWith(name)) as Archetype;
  const [lo, hi] = archetype.groupSizeRange as readonly [number, number];
  const size = sizeOf(need);
  // One of the other sizes, so that the row really changes.
  const other = lo + ((size - lo + 1 + random.below(hi - lo)) % (hi - lo + 1));
  return { ...need, aggregate: times(need.minUnit, other) };
}

function sizeOf({ aggregate, minUnit }: Need): number {
  return (aggregate.get('cpu') ?? 0) / (minUnit.get('cpu') ?? 1);
}
