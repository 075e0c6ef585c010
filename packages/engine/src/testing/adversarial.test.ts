// Proves that hostile numbers and hostile input neither throw out of a cycle nor bend it: what is
// wrong is refused with its code and changes nothing, what is merely extreme is decided alike by
// the engine and the oracle.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bucketOfDollars,
  bucketUpperBoundDollars,
  createRandom,
  PENALTY_BUCKETS,
  PINNED_BUCKET,
  type PenaltyBucket,
  type Random,
  type UnmetCode,
} from '@bigfleet/base';
import { Engine } from '../cycle/engine.ts';
import { engineCycle, loadEngine, readCycle } from '../cycle/plain.ts';
import { type CycleInput, type CycleOutput, heldOffKey } from '../model/cycle.ts';
import { ActionKind } from '../model/action.ts';
import { CapacityType, type CapacityTypeCode } from '../model/capacity-type.ts';
import { type Machine, machineProblem } from '../model/machine.ts';
import { type Need, needKey } from '../model/need.ts';
import { createProfile } from '../model/profile.ts';
import { INSTANCE_TYPE_KEY, Operator, type Requirement, ZONE_KEY } from '../model/requirement.ts';
import type { StateCode } from '../model/state.ts';
import { decodeRollup, type WireNeed } from '../needs/decode-rollup.ts';
import { oracleCycle } from '../oracle/cycle.ts';
import {
  acrossZones,
  acted,
  cores,
  fleet,
  machine,
  machines,
  NOW_MS,
  need,
  RACK_KEY,
  resources,
  told,
} from './build.ts';
import { randomFleet } from './generate.ts';
import { checkInvariants } from './invariants.ts';
import { inventoryText } from './inventory-model.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'adversarial-1';
const MAX = Number.MAX_SAFE_INTEGER;
const INT32_MAX = 2 ** 31 - 1;
const INT32_MIN = -(2 ** 31);
const INFINITE = Number.POSITIVE_INFINITY;

/** Both decide, both the same, and the decision keeps its promises. */
function decide(input: CycleInput): CycleOutput {
  const output = engineCycle(input);
  assert.deepEqual(output, oracleCycle(input));
  checkInvariants(input, output);
  return output;
}

function reasons({ verdicts }: CycleOutput): UnmetCode[] {
  return verdicts.map(({ reasonCode }) => reasonCode);
}

// 0 × ∞

test('a pinned need takes machines of probability 0, by price, from both pools', () => {
  const output = decide(
    fleet({
      machines: [
        machine({ id: 'risky', price: 0, probability: Number.MIN_VALUE }),
        machine({ id: 'dear', price: 9 }),
        machine({ id: 'free', price: 0 }),
        machine({ id: 'slot', price: 0, state: 'Speculative' }),
      ],
      needs: [need({ wants: cores(3), interruption: INFINITE })],
    }),
  );
  assert.deepEqual(told(output), ['Bootstrap free', 'Bootstrap dear', 'Provision slot']);
});

test('a pinned need with nothing but risky supply acts on nothing, not even by preemption', () => {
  const output = decide(
    fleet({
      machines: [
        machine({ id: 'idle', probability: 1 }),
        machine({ id: 'slot', state: 'Speculative', probability: 0.01 }),
        machine({ id: 'bound', state: 'Configured', cluster: 'b', probability: 0.5 }),
        machine({ id: 'drain', state: 'Draining', cluster: 'b', probability: 0.5 }),
      ],
      needs: [
        need({ wants: cores(1), interruption: INFINITE, priority: INT32_MAX }),
        need({ wants: cores(1), cluster: 'b', priority: INT32_MIN }),
      ],
    }),
  );
  assert.deepEqual(told(output), []);
  assert.deepEqual(reasons(output), ['no_stable_supply', 'satisfied']);
});

test('a pinned need keeps the machine it runs on when its probability rises, and only that', () => {
  const pinned = need({ wants: cores(1), interruption: INFINITE });
  const other = need({ wants: cores(1), interruption: INFINITE, priority: 5 });
  const output = decide(
    fleet({
      machines: [machine({ id: 'm', state: 'Configured', serves: pinned, probability: 1 })],
      needs: [pinned, other],
    }),
  );
  assert.deepEqual(told(output), []);
  assert.deepEqual(reasons(output), ['no_stable_supply', 'satisfied']);
});

// Large memory

test('memory above 8 TiB stays exact: one KiB decides', () => {
  const eightTi = 2 ** 33;
  const rows: readonly [wants: number, count: number][] = [
    [eightTi, 1],
    [eightTi + 1, 2],
    [3 * eightTi, 3],
    [3 * eightTi + 1, 4],
  ];
  for (const [wants, count] of rows) {
    const output = decide(
      fleet({
        machines: machines(5, 'm', { has: resources({ memory: eightTi }) }),
        needs: [
          need({ wants: resources({ memory: wants }), unit: resources({ memory: eightTi }) }),
        ],
      }),
    );
    assert.equal(acted(output, ActionKind.Bootstrap).length, count, `${wants} KiB`);
  }
});

test('sums that leave the exact integers saturate and still end', () => {
  const huge = machines(4, 'm', { has: resources({ memory: MAX - 1, cpu: 1000 }), rack: 'r1' });
  const rest = machines(2, 'n', { has: resources({ memory: 1, cpu: MAX }), rack: 'r2' });
  const wants = resources({ memory: MAX, cpu: 5000 });
  for (const same of [undefined, RACK_KEY]) {
    const output = decide(
      fleet({
        machines: [...huge, ...rest],
        needs: [need({ wants, ...(same === undefined ? {} : { same, group: 'g' }) })],
      }),
    );
    assert.equal(output.verdicts.length, 1);
  }
  const twice = [1, 2].map((at) => need({ wants: resources({ memory: MAX }), group: `${at}` }));
  const output = decide(fleet({ needs: twice }));
  assert.deepEqual(
    output.memory.shortfalls.get(twice[0]?.profile.fingerprint ?? '')?.deficit,
    wantsOf(MAX),
  );
});

function wantsOf(memory: number): ReadonlyMap<string, number> {
  return resources({ memory });
}

// Priorities

test('int32 extremes preempt each other with the shortest grace, in one direction only', () => {
  const low = need({ wants: cores(1), priority: INT32_MIN, cluster: 'low' });
  const high = need({ wants: cores(1), priority: INT32_MAX, cluster: 'high' });
  const bound = machine({ id: 'm', state: 'Configured', serves: low });
  const output = decide(fleet({ machines: [bound], needs: [low, high] }));
  assert.deepEqual(output.actions, [
    {
      kind: ActionKind.Preempt,
      machineId: 'm',
      cluster: 'low',
      fingerprint: '',
      group: '',
      graceSeconds: 10,
      preemptorPriority: INT32_MAX,
      reason: 'phase2.inversion',
    },
  ]);
  const upside = machine({ id: 'm', state: 'Configured', serves: high });
  assert.deepEqual(told(decide(fleet({ machines: [upside], needs: [low, high] }))), []);
});

test('the order of int32 extremes decides a contested machine', () => {
  const needs = [INT32_MIN, -1, 0, INT32_MAX].map((priority) =>
    need({ wants: cores(1), priority, cluster: `c${priority}` }),
  );
  const output = decide(fleet({ machines: machines(2, 'm', {}), needs }));
  assert.deepEqual(
    output.actions.map(({ cluster }) => cluster),
    [`c${INT32_MAX}`, 'c0'],
  );
});

// Penalties

test('at every bucket edge: a tie keeps idle spot, a hair less takes the stable slot', () => {
  for (const bucket of PENALTY_BUCKETS.slice(1, -1)) {
    const edge = bucketUpperBoundDollars(bucket);
    assert.equal(bucketOfDollars(edge), bucket);
    assert.equal(bucketOfDollars(edge * (1 + Number.EPSILON)), bucket + 1);
    const term = edge / 2;
    for (const [price, expected] of [
      [term, 'Bootstrap spot'],
      [term * (1 - Number.EPSILON), 'Provision stable'],
      [term * (1 + Number.EPSILON), 'Bootstrap spot'],
    ] as const) {
      const output = decide(
        fleet({
          machines: [
            machine({ id: 'spot', price: 0, probability: 0.5, capacityType: CapacityType.Spot }),
            machine({ id: 'stable', price, state: 'Speculative' }),
          ],
          needs: [need({ wants: cores(1), interruption: edge })],
        }),
      );
      assert.deepEqual(told(output), [expected], `bucket ${bucket}, ${price}`);
    }
  }
});

test('every pair of buckets as the stamp of a victim has a finite score', () => {
  const victims = PENALTY_BUCKETS.flatMap((interruptionBucket) =>
    [PENALTY_BUCKETS[0], PINNED_BUCKET].map((reclamationBucket) =>
      machine({
        id: `v${interruptionBucket}-${reclamationBucket}`,
        state: 'Configured',
        cluster: 'b',
        assigned: { interruptionBucket, reclamationBucket: reclamationBucket as PenaltyBucket },
      }),
    ),
  );
  const output = decide(
    fleet({
      machines: victims,
      needs: [
        need({ wants: cores(5), priority: INT32_MAX }),
        need({ wants: cores(victims.length), cluster: 'b', priority: 0 }),
      ],
    }),
  );
  const cheapestFirst = ['v1-1', 'v2-1', 'v3-1', 'v4-1', 'v5-1'];
  assert.deepEqual(acted(output, ActionKind.Preempt), cheapestFirst);
});

// Prices

test('prices from zero to the largest number order without NaN', () => {
  const prices = [Number.MAX_VALUE, 1e300, 1, Number.MIN_VALUE, -0, 0];
  const output = decide(
    fleet({
      machines: prices.map((price, at) => machine({ id: `m${at}`, price, probability: at % 2 })),
      needs: [need({ wants: cores(6), interruption: 8_388_608 })],
    }),
  );
  assert.equal(acted(output, ActionKind.Bootstrap).length, 6);
  assert.deepEqual(acted(output, ActionKind.Bootstrap).slice(0, 2), ['m4', 'm2']);
});

// Records

const BAD_RECORDS: readonly [Partial<Record<keyof Machine, unknown>>, string][] = [
  [{ pricePerHour: Number.NaN }, 'price'],
  [{ pricePerHour: -1 }, 'price'],
  [{ pricePerHour: INFINITE }, 'price'],
  [{ interruptionProbability: Number.NaN }, 'interruption_probability'],
  [{ interruptionProbability: 1.0000001 }, 'interruption_probability'],
  [{ interruptionProbability: -Number.MIN_VALUE }, 'interruption_probability'],
  [{ state: 0 }, 'structural'],
  [{ state: 9 }, 'structural'],
  [{ state: 255 }, 'structural'],
  [{ state: Number.NaN }, 'structural'],
  [{ capacityType: 0 }, 'structural'],
  [{ capacityType: 5 }, 'structural'],
  [{ host: undefined }, 'structural'],
  [{ host: { provider: '', ref: '' } }, 'structural'],
  [{ cluster: '' }, 'structural'],
  [{ provider: 'another' }, 'duplicate_id'],
];

test('a bad record of a known machine is refused with its code; the last good one still decides', () => {
  const served = need({ wants: cores(2), priority: 3 });
  const input = fleet({
    machines: [machine({ id: 'm', state: 'Configured', serves: served }), machine({ id: 'i' })],
    needs: [served],
  });
  const expected = decide(input);
  for (const [changes, code] of BAD_RECORDS) {
    const engine = loadEngine(input);
    const before = inventoryText(engine.inventory);
    const bad = { ...input.machines[0], ...changes } as Machine;
    assert.deepEqual(engine.inventory.put(bad, NOW_MS), { ok: false, error: code });
    assert.equal(inventoryText(engine.inventory), before);
    engine.cycle({ nowMs: NOW_MS });
    assert.deepEqual(readCycle(engine), expected, code);
  }
});

test('machines in creation are credited in keep order, whatever their stamps say', () => {
  const served = need({ wants: cores(1) });
  const creating = (id: string, reclamationBucket: number, price: number): Machine =>
    machine({
      id,
      state: 'Creating',
      serves: served,
      price,
      assigned: { reclamationBucket: reclamationBucket as PenaltyBucket },
    });
  const output = decide(
    fleet({
      machines: [creating('a', 1, 1), creating('b', 9, 1), creating('c', 27, 2)],
      needs: [served],
    }),
  );
  assert.deepEqual([...output.claims.keys()], ['b']);
});

test('the same id again from its own provider is the same machine', () => {
  const engine = new Engine();
  for (const price of [1, 2, 3])
    assert.ok(engine.inventory.put(machine({ id: 'm', price }), NOW_MS).ok);
  engine.applyRollup('a', [need({ wants: cores(2) })]);
  engine.cycle({ nowMs: NOW_MS });
  assert.deepEqual(told(readCycle(engine)), ['Bootstrap m']);
});

// Clusters that vanish

test('a cluster that vanishes takes its demand, its memory and its claims along', () => {
  const gang = need({ wants: cores(9), same: RACK_KEY, group: 'g', cluster: 'gone' });
  const plain = need({ wants: cores(2), cluster: 'gone' });
  let input = fleet({
    machines: [
      machine({ id: 'bound', state: 'Configured', cluster: 'gone', rack: 'r1' }),
      machine({ id: 'coming', state: 'Configuring', cluster: 'gone', rack: 'r1' }),
      machine({ id: 'bought', state: 'Creating', cluster: 'gone', rack: 'r1' }),
    ],
    needs: [gang, plain],
    heldOff: [heldOffKey('gone', plain.profile.fingerprint), heldOffKey('never', 'x')],
  });
  const engine = loadEngine(input);
  for (let cycle = 0; cycle < 3; cycle++) {
    const expected = decide(input);
    engine.cycle({ nowMs: NOW_MS });
    assert.deepEqual(readCycle(engine), expected);
    input = { ...input, memory: expected.memory };
  }
  engine.applyRollup('gone', []);
  engine.setHeldOff(new Set());
  engine.cycle({ nowMs: NOW_MS });
  const output = readCycle(engine);
  assert.deepEqual(output, decide({ ...input, needs: [], heldOff: new Set() }));
  assert.deepEqual(told(output), ['Reclaim bound']);
  assert.equal(output.memory.parkingAges.size + output.memory.shortfalls.size, 0);
  for (const id of ['bound', 'coming', 'bought']) assert.ok(engine.inventory.remove(id));
  engine.cycle({ nowMs: NOW_MS });
  const empty = readCycle(engine);
  assert.deepEqual([empty.actions, empty.verdicts, [...empty.claims]], [[], [], []]);
});

test('memory and flags of clusters nobody knows are ignored', () => {
  const ghost = need({ wants: cores(1), same: RACK_KEY, cluster: 'ghost' });
  const output = decide(
    fleet({
      machines: [machine({ id: 'm', state: 'Configured', cluster: 'a' })],
      reported: ['ghost', ''],
      heldOff: [heldOffKey('ghost', 'fp'), 'no separator'],
      memory: {
        parkingAges: new Map([
          [needKey(ghost), 40],
          ['', 9],
        ]),
        shortfalls: new Map(),
      },
    }),
  );
  assert.deepEqual(told(output), []);
  assert.equal(output.memory.parkingAges.size, 0);
});

// Impossible requirements

const requirement = (
  key: string,
  operator: Requirement['operator'],
  ...values: string[]
): Requirement => ({
  key,
  operator,
  values,
});

test('impossible needs are shortfalls with their reason, and disturb nobody', () => {
  const rows: readonly [Partial<Parameters<typeof need>[0]>, UnmetCode][] = [
    [{ requirements: [requirement(ZONE_KEY, Operator.In)] }, 'no_matching_supply'],
    [
      {
        requirements: [
          requirement(ZONE_KEY, Operator.In, 'z1'),
          requirement(ZONE_KEY, Operator.NotIn, 'z1'),
        ],
      },
      'no_matching_supply',
    ],
    [
      {
        requirements: [
          requirement(RACK_KEY, Operator.Exists),
          requirement(RACK_KEY, Operator.DoesNotExist),
        ],
      },
      'no_matching_supply',
    ],
    [{ requirements: [requirement('__proto__', Operator.Exists)] }, 'no_matching_supply'],
    [{ requirements: [requirement(INSTANCE_TYPE_KEY, Operator.In, '')] }, 'no_matching_supply'],
    [{ unit: resources({ cpu: MAX }) }, 'min_unit_too_large'],
    [{ unit: resources({ 'nobody.has/this': 1 }) }, 'min_unit_too_large'],
    [{ wants: resources({ 'nobody.has/this': 1 }) }, 'priority_starved'],
    [{ same: 'no.such/key', group: 'g' }, 'topology_unsatisfiable'],
    [{ same: ZONE_KEY, sameValues: ['nowhere'], group: 'g' }, 'topology_unsatisfiable'],
  ];
  for (const [init, expected] of rows) {
    const hopeless = need({ wants: cores(2), priority: 9, cluster: 'h', ...init });
    const modest = need({ wants: cores(1) });
    const output = decide(
      fleet({ machines: [machine({ id: 'm', rack: 'r' })], needs: [hopeless, modest] }),
    );
    assert.deepEqual(reasons(output), [expected, 'satisfied'], hopeless.profile.fingerprint);
    assert.deepEqual(told(output), ['Bootstrap m']);
  }
});

test('a spread over a key that no machine has, and skews below one', () => {
  const spread = { topologyKey: 'no.such/key', maxSkew: INT32_MIN, whenUnsatisfiable: 1 };
  const nowhere = need({ wants: cores(1), spread: [spread] });
  const narrow = need({ wants: cores(2), spread: [acrossZones(INT32_MIN)], cluster: 'b' });
  const output = decide(
    fleet({
      machines: ['z1', 'z2', 'z1'].map((zone, at) => machine({ id: `m${at}`, zone })),
      needs: [nowhere, narrow],
    }),
  );
  assert.deepEqual(
    output.actions.map(({ cluster, machineId }) => `${cluster} ${machineId}`),
    ['b m0', 'b m1'],
  );
});

test('a need for nothing is satisfied by nothing', () => {
  const output = decide(
    fleet({ machines: machines(2, 'm', {}), needs: [need({ wants: resources({}) })] }),
  );
  assert.deepEqual(reasons(output), ['satisfied']);
  assert.deepEqual(told(output), []);
});

// Clocks and quotas

test('clocks and quotas at their ends', () => {
  const idle = machines(2, 'm', { capacityType: CapacityType.Spot });
  const stamps = (sinceMs: number): ReadonlyMap<string, number> =>
    new Map(idle.map(({ id }) => [id, sinceMs]));
  for (const [nowMs, sinceMs, deletes] of [
    [0, 0, 0],
    [60_000, 0, 2],
    [59_999, 0, 0],
    [0, MAX, 0],
    [MAX, 0, 2],
    [1_800_000_000_000, 1_800_000_000_000 - 60_000, 2],
  ] as const) {
    const output = decide(fleet({ machines: idle, nowMs, idleSinceMs: stamps(sinceMs) }));
    assert.equal(acted(output, ActionKind.Delete).length, deletes, `${nowMs} ${sinceMs}`);
  }
  const slots = machines(3, 's', { state: 'Speculative' });
  for (const [quota, bought] of [
    [-5, 0],
    [0, 0],
    [2, 2],
    [INFINITE, 3],
  ] as const) {
    const needs = [need({ wants: cores(3) })];
    const output = decide(fleet({ machines: slots, needs, quota: { provider: quota } }));
    assert.equal(acted(output, ActionKind.Provision).length, bought, `quota ${quota}`);
  }
});

// Fuzz

test(`extreme fleets are decided alike (seed ${SEED})`, () => {
  const random = createRandom(SEED);
  for (let run = 0; run < 400; run++) {
    const input = extreme(random.stream(`extreme-${run}`));
    try {
      decide(input);
    } catch (cause) {
      throw new Error(`extreme fleet ${run} of seed ${SEED}`, { cause });
    }
  }
});

const SIZES = [1, 2 ** 33 + 1, 2 ** 52, MAX - 1, MAX];
const NAMES = ['cpu', 'memory', '__proto__', 'a=b,c', '\u0000', '😀'];
const TEXTS = ['g\u0000', '\ud800', '%2C', '|', '__proto__', ''];

/** A generated fleet whose numbers and names are pushed to their ends. */
function extreme(random: Random): CycleInput {
  const input = randomFleet(random.stream('fleet'), { maxMachines: 16, maxNeeds: 8 });
  const size = (): ReadonlyMap<string, number> => {
    const entries = NAMES.filter(() => random.below(3) === 0);
    return new Map(entries.map((name) => [name, pick(random, SIZES)]));
  };
  const needs = new Map<string, Need>();
  for (const row of input.needs) {
    const changed: Need = {
      ...row,
      aggregate: random.below(2) === 0 ? size() : row.aggregate,
      minUnit: random.below(4) === 0 ? size() : row.minUnit,
      group: random.below(3) === 0 ? pick(random, TEXTS) : row.group,
      profile: createProfile({
        ...row.profile,
        interruptionBucket: pick(random, PENALTY_BUCKETS),
        reclamationBucket: pick(random, PENALTY_BUCKETS),
      }),
    };
    needs.set(needKey(changed), changed);
  }
  return {
    ...input,
    needs: [...needs.values()],
    machines: input.machines.map((each) => ({
      ...each,
      allocatable: random.below(2) === 0 ? size() : each.allocatable,
      pricePerHour: pick(random, [0, Number.MIN_VALUE, 1, 1e300, Number.MAX_VALUE]),
      interruptionProbability: pick(random, [0, 0, Number.MIN_VALUE, 0.5, 1]),
    })),
  };
}

test(`hostile records and roll-ups leave a live engine on its last good state (seed ${SEED})`, () => {
  const random = createRandom(`${SEED}-live`);
  const codes = new Set<string>();
  for (let run = 0; run < 60; run++) runHostile(random.stream(`run-${run}`), codes);
  const expected = ['bad_bucket', 'bad_operator', 'bad_quantity', 'cluster_mismatch'];
  expected.push('duplicate_id', 'interruption_probability', 'malformed', 'price', 'structural');
  assert.deepEqual([...codes].sort(), expected.sort());
});

/** Every step offers something bad; the engine must decide as if it had never come. */
function runHostile(random: Random, codes: Set<string>): void {
  const input = randomFleet(random.stream('fleet'), { maxMachines: 12, maxNeeds: 6 });
  const engine = loadEngine(input, { fullPassDirtyShare: 1 });
  engine.cycle({ nowMs: input.nowMs, quotaRemaining: input.quotaRemaining });
  let expected = decide(input);
  assert.deepEqual(readCycle(engine), expected);
  for (let step = 0; step < 4; step++) {
    for (let times = 0; times < 3; times++) {
      offerBadRecord(engine, input, random, codes);
      offerBadRollup(random, codes);
    }
    engine.cycle({ nowMs: input.nowMs, quotaRemaining: input.quotaRemaining });
    expected = decide({ ...input, memory: expected.memory });
    assert.deepEqual(readCycle(engine), expected);
  }
}

function offerBadRecord(
  engine: Engine,
  input: CycleInput,
  random: Random,
  codes: Set<string>,
): void {
  const good = input.machines[random.below(Math.max(1, input.machines.length))];
  if (good === undefined) return;
  const bad: Machine = { ...good, ...pick(random, BAD_FIELDS) };
  const isBad = machineProblem(bad) !== undefined || bad.provider !== good.provider;
  if (!isBad) return;
  const before = inventoryText(engine.inventory);
  const result = engine.inventory.put(bad, input.nowMs);
  assert.ok(!result.ok);
  codes.add(result.error);
  assert.equal(inventoryText(engine.inventory), before);
}

const BAD_FIELDS: readonly Partial<Machine>[] = [
  { pricePerHour: Number.NaN },
  { pricePerHour: -1 },
  { interruptionProbability: 2 },
  { state: 0 as number as StateCode },
  { state: 77 as number as StateCode },
  { capacityType: 9 as number as CapacityTypeCode },
  { id: '' },
  { provider: 'another' },
  { host: undefined, cluster: 'somewhere' },
];

const GOOD_ROW: WireNeed = {
  requirements: [],
  aggregateResources: { cpu: '4' },
  priority: 5,
  spread: [],
  interruptionPenaltyBucket: 1,
  reclamationPenaltyBucket: 1,
  minUnit: {},
  group: '',
};

const BAD_ROWS: readonly Partial<WireNeed>[] = [
  { interruptionPenaltyBucket: 28 },
  { reclamationPenaltyBucket: -1 },
  { aggregateResources: { cpu: 'four' } },
  { minUnit: { memory: '-1Gi' } },
  { requirements: [{ key: 'k', operator: 9, values: [] }] },
  { priority: 2 ** 31 },
];

/** Refused before it reaches the table: there is nothing to apply. */
function offerBadRollup(random: Random, codes: Set<string>): void {
  const isForeign = random.below(5) === 0;
  const bad = isForeign ? {} : pick(random, BAD_ROWS);
  const needs = [GOOD_ROW, { ...GOOD_ROW, ...bad }];
  const clusterId = isForeign ? 'b' : 'a';
  const result = decodeRollup({ clusterId, timestampUnixNanos: 1n, needs }, 'a');
  assert.ok(!result.ok);
  codes.add(result.error.code);
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}
