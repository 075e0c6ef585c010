// Proves on random fleets of extremes, and on random hostile input to a live engine, that engine and
// oracle decide alike and that the last good state stays.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, PENALTY_BUCKETS, type Random } from '@bigfleet/base';
import type { Engine } from '../cycle/engine.ts';
import { loadEngine, readCycle } from '../cycle/plain.ts';
import type { CycleInput } from '../model/cycle.ts';
import type { CapacityTypeCode } from '../model/capacity-type.ts';
import { type Machine, machineProblem } from '../model/machine.ts';
import { type Need, needKey } from '../model/need.ts';
import { createProfile } from '../model/profile.ts';
import type { StateCode } from '../model/state.ts';
import { decodeRollup, type WireNeed } from '../needs/decode-rollup.ts';
import { randomFleet } from './generate.ts';
import { inventoryText } from './inventory-model.ts';
import { decideBoth as decide } from './decide-both.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'adversarial-1';
const MAX = Number.MAX_SAFE_INTEGER;

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
