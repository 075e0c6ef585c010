// Proves the law of the brake on machines that never join: a need whose nodes never join burns at
// most three machines and one per probe, however long it asks, and nobody whose nodes join notices.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, type Random, ZERO_BUCKET } from '@bigfleet/base';
import {
  CapacityType,
  ConfigureBrake,
  createProfile,
  engineCycle,
  type Machine,
  type Need,
  noAssignment,
  Operator,
  State,
} from '@bigfleet/engine';
import { DemandTable } from './demand-table.ts';
import { ProviderModel } from './provider/provider-model.ts';
import { CYCLE_PERIOD_MS, SimulatedShard } from './step.ts';
import { deciders } from './testing/deciders.ts';

const SEEDS = Number(process.env['BIGFLEET_SEEDS'] ?? 10);
const FIRST = Number(process.env['BIGFLEET_SEED'] ?? 1);
const CYCLES_PER_MINUTE = 60_000 / CYCLE_PERIOD_MS;
const STRIKES = 3;

interface World {
  readonly cycles: number;
  readonly types: readonly string[];
  readonly slotsPerType: number;
  readonly dwell: { readonly create: number; readonly configure: number };
  readonly pairs: readonly Pair[];
}

interface Pair {
  readonly need: Need;
  readonly isBroken: boolean;
}

interface Outcome {
  /** Machines that ended Failed, by cluster and fingerprint. */
  readonly burnt: ReadonlyMap<string, number>;
  /** What each cycle did for pairs that succeed. */
  readonly healthyActions: readonly string[];
  /** Cycle in which a need had all its machines, by key. */
  readonly servedAt: ReadonlyMap<string, number>;
  readonly shortfallCycles: number;
}

function needOf(cluster: string, type: string, cores: number, priority: number): Need {
  return {
    cluster,
    profile: createProfile({
      requirements: [
        { key: 'node.kubernetes.io/instance-type', operator: Operator.In, values: [type] },
      ],
      spread: [],
      priority,
      interruptionBucket: ZERO_BUCKET,
      reclamationBucket: ZERO_BUCKET,
    }),
    aggregate: new Map([['cpu', cores * 1000]]),
    minUnit: new Map([['cpu', 1000]]),
    group: '',
    arrivalUnixNanos: 1n,
  };
}

function slot(id: string, instanceType: string): Machine {
  return {
    id,
    state: State.Speculative,
    provider: 'p',
    host: undefined,
    cluster: '',
    instanceType,
    zone: 'z',
    capacityType: CapacityType.OnDemand,
    labels: new Map(),
    allocatable: new Map([['cpu', 1000]]),
    pricePerHour: 1,
    interruptionProbability: 0,
    lastError: '',
    assigned: noAssignment,
    intendedCluster: '',
    withheld: undefined,
  };
}

const keyOf = ({ cluster, profile }: Need): string => `${cluster} ${profile.fingerprint}`;

function run(
  world: World,
  decide: (typeof deciders)[number]['decide'],
  isBraked: boolean,
): Outcome {
  const provider = new ProviderModel({
    createCycles: world.dwell.create,
    configureCycles: world.dwell.configure,
    drainCycles: 1,
    deleteCycles: 1,
  });
  for (const type of world.types) {
    for (let at = 0; at < world.slotsPerType; at++) provider.add(slot(`${type}-${at}`, type));
  }
  const broken = new Set(
    world.pairs.filter((pair) => pair.isBroken).map(({ need }) => keyOf(need)),
  );
  const pairOf = (machine: Machine): string =>
    `${machine.cluster} ${machine.assigned.needFingerprint}`;
  const burnt = new Map<string, number>();
  provider.joinError = (machine) => {
    const pair = pairOf(machine);
    if (!broken.has(pair)) return undefined;
    burnt.set(pair, (burnt.get(pair) ?? 0) + 1);
    return 'the node never joined';
  };
  const demand = new DemandTable();
  for (const cluster of new Set(world.pairs.map(({ need }) => need.cluster))) {
    const rows = world.pairs.filter(({ need }) => need.cluster === cluster);
    demand.applyRollup(
      cluster,
      rows.map(({ need }) => need),
      1n,
    );
  }
  const shard = new SimulatedShard(provider, {
    demand,
    decide,
    ...(isBraked ? { brake: new ConfigureBrake() } : {}),
  });
  const healthyActions: string[] = [];
  const servedAt = new Map<string, number>();
  let shortfallCycles = 0;
  for (let cycle = 0; cycle < world.cycles; cycle++) {
    provider.advance();
    for (const { need } of world.pairs) {
      const joined = provider
        .list()
        .filter((m) => m.state === State.Configured && pairOf(m) === keyOf(need));
      const isServed = joined.length * 1000 >= (need.aggregate.get('cpu') ?? 0);
      if (isServed && !servedAt.has(keyOf(need))) servedAt.set(keyOf(need), cycle);
    }
    const { actions, shortfallCount } = shard.step();
    if (shortfallCount > 0) shortfallCycles++;
    for (const { cluster, fingerprint, kind, machineId } of actions) {
      const isHealthy = fingerprint !== '' && !broken.has(`${cluster} ${fingerprint}`);
      if (isHealthy) healthyActions.push(`${cycle} ${kind} ${machineId} ${cluster}`);
    }
  }
  return { burnt, healthyActions, servedAt, shortfallCycles };
}

/** Probes within so many minutes: pauses of 1, 2, 4 … minutes, then an hour each. */
function probesWithin(minutes: number): number {
  let count = 0;
  for (let pause = 1, passed = 1; passed <= minutes; passed += pause) {
    count++;
    pause = Math.min(2 * pause, 60);
  }
  return count;
}

function randomWorld(random: Random): World {
  const clusterCount = 2 + random.below(4);
  const isShared = random.below(2) === 0;
  const pairs = Array.from({ length: clusterCount }, (_, at): Pair[] =>
    Array.from({ length: 1 + random.below(2) }, (__, row) => ({
      need: needOf(
        `c${at}`,
        isShared ? `type-${random.below(2)}` : `type-${at}`,
        1 + random.below(STRIKES),
        row,
      ),
      isBroken: random.below(2) === 0,
    })),
  ).flat();
  return {
    cycles: Math.floor((5 + random.below(4 * 60)) * CYCLES_PER_MINUTE),
    types: [...new Set(pairs.map(({ need }) => need.profile.requirements[0]?.values[0] ?? ''))],
    slotsPerType: 80,
    dwell: { create: random.below(4), configure: random.below(6) },
    pairs,
  };
}

for (const { name, decide, isFast } of deciders) {
  const seeds = isFast ? SEEDS : Math.ceil(SEEDS / 5);
  test(`a need whose nodes never join burns 3 machines and one per probe (${name}, ${seeds} worlds)`, () => {
    for (let seed = FIRST; seed < FIRST + seeds; seed++) {
      const world = randomWorld(createRandom(`brake-${seed}`));
      const braked = run(world, decide, true);
      const minutes = world.cycles / CYCLES_PER_MINUTE;
      const most = STRIKES + probesWithin(minutes);
      for (const [pair, count] of braked.burnt) {
        assert.ok(
          count <= most,
          `seed ${seed}: ${pair} burnt ${count} of ${most} in ${minutes} min`,
        );
        // The law of the issue, which doubling pauses keep until the pause is an hour long.
        if (minutes < 60) assert.ok(count <= STRIKES + Math.log2(minutes + 1), `seed ${seed}`);
      }
    }
  });
}

test(`without the brake the same needs burn machines for ever (${SEEDS} worlds)`, () => {
  const decide = engineCycle;
  let worse = 0;
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    const world = randomWorld(createRandom(`brake-${seed}`));
    const most = STRIKES + probesWithin(world.cycles / CYCLES_PER_MINUTE);
    const { burnt } = run(world, decide, false);
    if ([...burnt.values()].some((count) => count > most)) worse++;
  }
  assert.ok(worse > SEEDS / 2, `${worse} of ${SEEDS} worlds show the pathology`);
});

test(`pairs that succeed are served as if there were no brake (${SEEDS} worlds)`, () => {
  const decide = engineCycle;
  let served = 0;
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    const random = createRandom(`succeed-${seed}`);
    const world = { ...randomWorld(random), cycles: 20 * CYCLES_PER_MINUTE };
    const braked = run(world, decide, true);
    const free = run(world, decide, false);
    for (const { need, isBroken } of world.pairs) {
      if (isBroken) continue;
      assert.equal(
        braked.servedAt.get(keyOf(need)),
        free.servedAt.get(keyOf(need)),
        `seed ${seed}: ${keyOf(need)}`,
      );
      served++;
    }
    const isAllHealthy = world.pairs.every(({ isBroken }) => !isBroken);
    if (isAllHealthy) assert.deepEqual(braked.healthyActions, free.healthyActions, `seed ${seed}`);
  }
  assert.ok(served > SEEDS, `${served} pairs were compared`);
});

test('with nothing broken the brake changes no action at all', () => {
  const decide = engineCycle;
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    const drawn = randomWorld(createRandom(`healthy-${seed}`));
    const pairs = drawn.pairs.map((pair) => ({ ...pair, isBroken: false }));
    const world = { ...drawn, pairs, cycles: 60 };
    const braked = run(world, decide, true);
    assert.ok(braked.healthyActions.length > 0);
    assert.deepEqual(braked.healthyActions, run(world, decide, false).healthyActions);
  }
});

test('what is held off is a shortfall', () => {
  const decide = engineCycle;
  const world: World = {
    cycles: 60 * CYCLES_PER_MINUTE,
    types: ['t'],
    slotsPerType: 80,
    dwell: { create: 0, configure: 1 },
    pairs: [{ need: needOf('a', 't', 2, 0), isBroken: true }],
  };
  const braked = run(world, decide, true);
  const free = run(world, decide, false);
  assert.equal(free.burnt.get(keyOf(needOf('a', 't', 2, 0))), 80, 'every slot there is');
  assert.ok(braked.shortfallCycles > 0.9 * world.cycles, `${braked.shortfallCycles} cycles`);
});
