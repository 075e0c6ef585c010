// Small but nasty fleets from a seed: few machines, few classes, ties in everything, and every
// special case of the specification a few times in a hundred fleets. Fleets are valid by
// construction: what ingest refuses never reaches a cycle.

import type { PenaltyBucket, Random } from '@bigfleet/base';
import { type Brakes, machineTypeKey, noBrakes } from '../model/brakes.ts';
import { type CycleInput, heldOffKey, type Shortfall } from '../model/cycle.ts';
import {
  type CapacityTypeCode,
  DEFAULT_RELEASE_POLICY,
  holdMs,
  type ReleasePolicy,
} from '../model/capacity-type.ts';
import { type Assignment, type Machine, machineProblem, noAssignment } from '../model/machine.ts';
import { type Need, needKey } from '../model/need.ts';
import { createProfile, type Profile, type Spread, withoutSame } from '../model/profile.ts';
import { Operator, type Requirement, ZONE_KEY } from '../model/requirement.ts';
import { noResources, type Resources } from '../model/resources.ts';
import { gridOf, State, type StateCode } from '../model/state.ts';
import { assignmentFor, NOW_MS, RACK_KEY, resources } from './build.ts';

export interface GenerateOptions {
  readonly maxMachines?: number;
  readonly maxNeeds?: number;
  /**
   * Nothing in flight, failed, withheld, refused, capped or remembered, and every cluster
   * reported: a fleet in which constant demand should go quiet.
   */
  readonly calm?: boolean;
  /** One priority for all, so that nobody can preempt. */
  readonly flatPriority?: boolean;
  /** No Same requirements. */
  readonly plain?: boolean;
  /** No topology spread. */
  readonly unspread?: boolean;
}

const ZONES = ['z1', 'z2', 'z3'];
const RACKS = ['r1', 'r2', 'r3', 'r4'];
const CLUSTERS = ['a', 'b', 'c', 'd'];
const PROVIDERS = ['p1', 'p2'];
const PRIORITIES = [0, 0, 1, 1, 5, 1000, 1_000_000, -(2 ** 31), 2 ** 31 - 1];
const BUCKETS = [1, 1, 1, 2, 5, 9, 26, 27];
const PRICES = [0, 1, 1, 1, 2, 2, 6, 0.1];
const PROBABILITIES = [0, 0, 0, 0, 0.1, 0.1, 0.5, 1];
const PARKING_AGES = [1, 5, 7, 8, 9, 31, 32, 33, 63, 64];
/** Just above 8 TiB in KiB: where milli-bytes would leave the exact integers. */
const MUCH_MEMORY = 2 ** 33 + 1;

const SIZES: readonly Resources[] = [
  ...repeat(resources({ cpu: 1000 }), 4),
  ...repeat(resources({ cpu: 2000 }), 2),
  resources({ cpu: 4000, memory: 4 }),
  resources({ cpu: 1000, memory: 8 }),
  resources({ memory: 2, cpu: 2000 }),
  resources({ cpu: 1000, memory: MUCH_MEMORY }),
  resources({ gpu: 1000 }),
  noResources,
];

/** How much is still to be had: scarce fleets reach Phase 2, plentiful ones Phase 1's ties. */
const CLIMATES: readonly (readonly StateCode[])[] = [
  [...repeat(State.Idle, 5), ...repeat(State.Speculative, 5), ...repeat(State.Configured, 7)],
  [State.Idle, State.Speculative, ...repeat(State.Configured, 12)],
  [...repeat(State.Idle, 4), ...repeat(State.Speculative, 4), State.Configured],
];
const UNSETTLED: readonly StateCode[] = [
  ...repeat(State.Creating, 3),
  ...repeat(State.Configuring, 3),
  ...repeat(State.Draining, 2),
  State.Deleting,
  State.Failed,
];

export function randomFleet(random: Random, options: GenerateOptions = {}): CycleInput {
  const calm = options.calm === true;
  const clusters = CLUSTERS.slice(0, 1 + random.below(4));
  const needs = randomNeeds(random.stream('needs'), clusters, options);
  const machines = randomMachines(random.stream('machines'), clusters, needs, options);
  const rest = random.stream('rest');
  const releasePolicy = randomPolicy(rest);
  return {
    nowMs: NOW_MS,
    machines,
    idleSinceMs: randomStamps(rest, machines, releasePolicy, calm),
    needs,
    reportedClusters: new Set(clusters.filter(() => calm || chance(rest, 0.8))),
    quotaRemaining: new Map(
      calm ? [] : PROVIDERS.filter(() => chance(rest, 0.3)).map((name) => [name, rest.below(4)]),
    ),
    heldOff: new Set(
      needs
        .filter(() => !calm && chance(rest, 0.05))
        .map(({ cluster, profile }) => heldOffKey(cluster, profile.fingerprint)),
    ),
    memory: {
      parkingAges: new Map(
        needs
          .filter(() => !calm && chance(rest, 0.15))
          .map((need) => [needKey(need), pick(rest, PARKING_AGES)]),
      ),
      shortfalls: new Map(
        needs
          .filter(() => !calm && chance(rest, 0.2))
          .map((need) => [need.profile.fingerprint, oldShortfall(rest, need)]),
      ),
    },
    releasePolicy,
    brakes: calm ? noBrakes : randomBrakes(random.stream('brakes'), needs, machines),
  };
}

/** Failing needs and types, some without a try left, some that nobody has. */
export function randomBrakes(
  random: Random,
  needs: readonly Need[],
  machines: readonly Machine[],
): Brakes {
  const failing = needs.filter(() => chance(random, 0.1));
  const types = machines.filter(() => chance(random, 0.02));
  return {
    needs: new Map(
      failing.map((need) => {
        const { fingerprint } = chance(random, 0.5) ? need.profile : withoutSame(need.profile);
        return [heldOffKey(need.cluster, fingerprint), random.below(3)];
      }),
    ),
    types: new Map(
      types.map(({ provider, instanceType }) => [
        machineTypeKey(provider, instanceType),
        random.below(3),
      ]),
    ),
  };
}

function randomNeeds(
  random: Random,
  clusters: readonly string[],
  options: GenerateOptions,
): Need[] {
  const profiles = Array.from({ length: 1 + random.below(5) }, () =>
    randomProfile(random, options),
  );
  const needs = new Map<string, Need>();
  const count = random.below((options.maxNeeds ?? 14) + 1);
  for (let at = 0; at < count; at++) {
    const need = randomNeed(random, pick(random, clusters), pick(random, profiles));
    needs.set(needKey(need), need);
  }
  return [...needs.values()];
}

function randomProfile(random: Random, options: GenerateOptions): Profile {
  const requirements = randomRequirements(random);
  const spread = randomSpread(random);
  const priority = pick(random, PRIORITIES);
  return createProfile({
    requirements:
      options.plain === true
        ? requirements.filter(({ operator }) => operator !== Operator.Same)
        : requirements,
    spread: options.unspread === true ? [] : spread,
    priority: options.flatPriority === true ? 0 : priority,
    interruptionBucket: pick(random, BUCKETS) as PenaltyBucket,
    reclamationBucket: pick(random, BUCKETS) as PenaltyBucket,
  });
}

function randomRequirements(random: Random): Requirement[] {
  const list: Requirement[] = [];
  if (chance(random, 0.2)) {
    list.push({ key: 'arch', operator: Operator.In, values: subset(random, ['arm', 'x86']) });
  }
  if (chance(random, 0.1)) {
    list.push({ key: ZONE_KEY, operator: Operator.NotIn, values: [pick(random, ZONES)] });
  }
  if (chance(random, 0.05)) {
    const operator = chance(random, 0.5) ? Operator.Exists : Operator.DoesNotExist;
    list.push({ key: 'arch', operator, values: [] });
  }
  if (chance(random, 0.45)) {
    const [key, all] = chance(random, 0.7)
      ? ([RACK_KEY, RACKS] as const)
      : ([ZONE_KEY, ZONES] as const);
    const values = chance(random, 0.2) ? subset(random, all) : [];
    list.push({ key, operator: Operator.Same, values });
  }
  return list;
}

function randomSpread(random: Random): Spread[] {
  if (chance(random, 0.6)) return [];
  return Array.from({ length: 1 + random.below(2) }, () => ({
    topologyKey: chance(random, 0.7) ? ZONE_KEY : RACK_KEY,
    maxSkew: pick(random, [0, 1, 1, 2, 3]),
    whenUnsatisfiable: chance(random, 0.8) ? 1 : 2,
  }));
}

function randomNeed(random: Random, cluster: string, profile: Profile): Need {
  const isGang = profile.same !== undefined;
  return {
    cluster,
    profile,
    aggregate: randomAggregate(random),
    minUnit: pick(random, [
      noResources,
      resources({ cpu: 500 }),
      resources({ cpu: 1000 }),
      resources({ cpu: 1000 }),
      resources({ cpu: 2000 }),
      resources({ memory: 1, cpu: 1000 }),
    ]),
    group: isGang || chance(random, 0.1) ? pick(random, ['g1', 'g2', 'g3', '']) : '',
    arrivalUnixNanos: BigInt(random.below(4)),
  };
}

function randomAggregate(random: Random): Resources {
  const cpu = random.below(9) * (chance(random, 0.9) ? 1000 : 750);
  const memory = chance(random, 0.3) ? 1 + random.below(12) : 0;
  const much = chance(random, 0.03) ? MUCH_MEMORY + random.below(3) : 0;
  const gpu = chance(random, 0.05) ? 1000 : 0;
  // Both orders of insertion: a Map's order must never decide.
  return chance(random, 0.5)
    ? resources({ cpu, memory: memory + much, gpu })
    : resources({ gpu, memory: memory + much, cpu });
}

interface Shape {
  readonly instanceType: string;
  readonly capacityType: CapacityTypeCode;
  readonly provider: string;
  readonly allocatable: Resources;
  readonly pricePerHour: number;
  readonly interruptionProbability: number;
  readonly arch: string | undefined;
}

function randomShape(random: Random): Shape {
  return {
    instanceType: pick(random, ['small', 'large', '']),
    capacityType: (1 + random.below(4)) as CapacityTypeCode,
    provider: pick(random, PROVIDERS),
    allocatable: pick(random, SIZES),
    pricePerHour: pick(random, PRICES),
    interruptionProbability: pick(random, PROBABILITIES),
    arch: pick(random, ['arm', 'x86', 'x86', undefined]),
  };
}

function randomMachines(
  random: Random,
  clusters: readonly string[],
  needs: readonly Need[],
  options: GenerateOptions,
): Machine[] {
  const shapes = Array.from({ length: 1 + random.below(5) }, () => randomShape(random));
  const count = random.below((options.maxMachines ?? 36) + 1);
  const climate = pick(random, CLIMATES);
  const states = options.calm === true ? climate : [...climate, ...climate, ...UNSETTLED];
  const machines = Array.from({ length: count }, (_, at) =>
    randomMachine(random, `m${at}`, pick(random, shapes), { clusters, needs, options, states }),
  );
  for (const machine of machines) {
    const problem = machineProblem(machine);
    if (problem !== undefined) throw new Error(`generated an invalid machine: ${problem}`);
  }
  return shuffle(random, machines);
}

interface World {
  readonly clusters: readonly string[];
  readonly needs: readonly Need[];
  readonly options: GenerateOptions;
  readonly states: readonly StateCode[];
}

function randomMachine(random: Random, id: string, shape: Shape, world: World): Machine {
  const calm = world.options.calm === true;
  const state = pick(random, world.states);
  const grid = gridOf(state);
  const { arch, ...columns } = shape;
  const labels = new Map<string, string>();
  if (arch !== undefined) labels.set('arch', arch);
  if (chance(random, 0.9)) labels.set(RACK_KEY, pick(random, RACKS));
  const stamp = randomStamp(random, state, world);
  return {
    id,
    state,
    ...columns,
    host: grid.host === 'set' ? { provider: shape.provider, ref: id } : undefined,
    cluster: grid.cluster === 'set' ? stamp.cluster : '',
    zone: chance(random, 0.95) ? pick(random, ZONES) : '',
    labels,
    lastError: state === State.Failed ? 'lost' : '',
    assigned: stamp.assigned,
    intendedCluster: state === State.Creating && chance(random, 0.85) ? stamp.cluster : '',
    withheld:
      !calm && chance(random, 0.06)
        ? pick(random, ['transfer_frozen', 'transfer_reserved', 'not_owned'] as const)
        : undefined,
  };
}

/** Whom the machine serves, or is said to: true, folded, stale or missing stamps. */
function randomStamp(
  random: Random,
  state: StateCode,
  { clusters, needs, options }: World,
): { readonly cluster: string; readonly assigned: Assignment } {
  const cluster = pick(random, clusters);
  if (state === State.Idle && chance(random, 0.2)) {
    const reclamationBucket = pick(random, BUCKETS) as PenaltyBucket;
    return { cluster, assigned: { ...noAssignment, reclamationBucket } };
  }
  const isStamped = gridOf(state).cluster === 'set' || state === State.Creating;
  if (!isStamped || needs.length === 0 || chance(random, 0.2)) {
    return { cluster, assigned: noAssignment };
  }
  const need = pick(random, needs);
  const served = chance(random, 0.3)
    ? { ...need, profile: withoutSame(need.profile), group: '' }
    : need;
  const assigned = assignmentFor(served);
  const isStale = options.flatPriority !== true && chance(random, 0.15);
  return {
    cluster: chance(random, 0.9) ? need.cluster : cluster,
    assigned: isStale ? { ...assigned, priority: pick(random, PRIORITIES) } : assigned,
  };
}

function randomPolicy(random: Random): ReleasePolicy {
  if (chance(random, 0.8)) return DEFAULT_RELEASE_POLICY;
  return { onDemandHoldMs: pick(random, [0, 600_000]), spotHoldMs: pick(random, [0, 60_000]) };
}

/** Around the boundary of the hold; now and then no stamp at all. Calm: nothing is due. */
function randomStamps(
  random: Random,
  machines: readonly Machine[],
  policy: ReleasePolicy,
  calm: boolean,
): ReadonlyMap<string, number> {
  const stamps = new Map<string, number>();
  for (const { id, state, capacityType } of machines) {
    if (state !== State.Idle || (!calm && chance(random, 0.05))) continue;
    const hold = holdMs(capacityType, policy);
    const idleMs = Number.isFinite(hold) ? hold - 1 + random.below(3) : 10 ** 9;
    stamps.set(id, NOW_MS - (calm ? 0 : idleMs));
  }
  return stamps;
}

function oldShortfall(random: Random, need: Need): Shortfall {
  return {
    profile: need.profile,
    deficit: need.aggregate,
    minUnit: need.minUnit,
    ageCycles: 1 + random.below(8),
    reasonCode: 'priority_starved',
    clusters: [need.cluster],
  };
}

function pick<T>(random: Random, list: readonly T[]): T {
  const index = random.below(list.length);
  return list.slice(index, index + 1)[0] as T;
}

function chance(random: Random, probability: number): boolean {
  return random.float() < probability;
}

function subset<T>(random: Random, list: readonly T[]): T[] {
  return list.filter(() => chance(random, 0.6));
}

export function shuffle<T>(random: Random, list: readonly T[]): T[] {
  return list
    .map((value) => ({ value, rank: random.uint32() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ value }) => value);
}

function repeat<T>(value: T, count: number): T[] {
  return Array.from({ length: count }, () => value);
}
