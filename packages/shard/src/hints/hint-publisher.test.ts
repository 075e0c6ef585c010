// Proves AvailableCapacity: what a hint says, that unchanged ones are not repeated and changed ones
// not lost, that the catch-all follows the first applied roll-up and never precedes it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INSTANCE_TYPE_KEY, type Requirement } from '@bigfleet/engine';
import { type AvailableCapacityUpdate, Confidence } from '@bigfleet/wire';
import { rollup, Stage } from '../operators/testing/stage.ts';
import type { TestOperator } from '../session/testing/test-operator.ts';
import { hintOf, pinnedTypes } from './hint.ts';
import type { DemandedProfile, FleetSupply, SupplyCount } from './supply.ts';

const NONE: SupplyCount = { idleCount: 0, speculativeCount: 0, cheapestIdlePrice: 0 };

/** Counts per instance type; the totals are their sum, as the engine's are. */
class Supply implements FleetSupply {
  readonly asked: (string | undefined)[] = [];
  readonly #byType: Map<string, { all: SupplyCount; stable: SupplyCount }>;

  constructor(rows: Readonly<Record<string, { all: SupplyCount; stable?: SupplyCount }>>) {
    this.#byType = new Map(
      Object.entries(rows).map(([type, { all, stable = NONE }]) => [type, { all, stable }]),
    );
  }

  count(instanceType: string | undefined, stableOnly: boolean): SupplyCount {
    this.asked.push(instanceType);
    const rows =
      instanceType === undefined
        ? [...this.#byType.values()]
        : [this.#byType.get(instanceType) ?? { all: NONE, stable: NONE }];
    const counts = rows.map(({ all, stable }) => (stableOnly ? stable : all));
    const prices = counts.filter((c) => c.idleCount > 0).map((c) => c.cheapestIdlePrice);
    return {
      idleCount: counts.reduce((sum, c) => sum + c.idleCount, 0),
      speculativeCount: counts.reduce((sum, c) => sum + c.speculativeCount, 0),
      cheapestIdlePrice: prices.length === 0 ? 0 : Math.min(...prices),
    };
  }
}

function row(idleCount: number, speculativeCount: number, cheapestIdlePrice: number): SupplyCount {
  return { idleCount, speculativeCount, cheapestIdlePrice };
}

function profile(
  fingerprint: string,
  types?: readonly string[],
  isPinned = false,
): DemandedProfile {
  const requirements: Requirement[] =
    types === undefined ? [] : [{ key: INSTANCE_TYPE_KEY, operator: 1, values: types }];
  return { fingerprint, requirements, isPinned };
}

test('what a hint says, from counts alone', () => {
  const supply = new Supply({
    big: { all: row(2, 5, 4.5), stable: row(1, 0, 6) },
    small: { all: row(3, 0, 1.25) },
    burst: { all: row(0, 7, 0) },
  });
  const { HIGH, MEDIUM, NONE: NO } = Confidence;
  const twoIns: DemandedProfile = {
    fingerprint: 'x',
    isPinned: false,
    requirements: [
      { key: INSTANCE_TYPE_KEY, operator: 1, values: ['big', 'small'] },
      { key: INSTANCE_TYPE_KEY, operator: 1, values: ['small', 'burst'] },
      { key: INSTANCE_TYPE_KEY, operator: 2, values: ['other'] },
    ],
  };
  const cases: readonly [string, DemandedProfile, number, Confidence, number][] = [
    ['no type named: the totals', profile('a'), 17, HIGH, 1.25],
    ['one type', profile('b', ['big']), 7, HIGH, 4.5],
    ['named twice, counted once', profile('c', ['big', 'big']), 7, HIGH, 4.5],
    ['a type without idle is not free', profile('d', ['burst', 'big']), 14, HIGH, 4.5],
    ['speculative only', profile('e', ['burst']), 7, MEDIUM, 0],
    ['nothing', profile('f', ['unknown']), 0, NO, 0],
    ['no type allowed', profile('g', []), 0, NO, 0],
    ['several In: their intersection', twoIns, 3, HIGH, 1.25],
    ['pinned: machines without risk only', profile('h', undefined, true), 1, HIGH, 6],
    ['pinned, of a type that has none', profile('i', ['small'], true), 0, NO, 0],
  ];
  for (const [name, demanded, count, confidence, costPerHour] of cases) {
    const hint = hintOf(demanded, pinnedTypes(demanded.requirements), supply);
    assert.deepEqual(hint, { count, confidence, costPerHour }, name);
  }
});

function hints(operator: TestOperator): [string, number][] {
  return operator
    .all('availableCapacity')
    .map((update: AvailableCapacityUpdate) => [update.supersedesKey, update.availableCount]);
}

async function demandingStage(seed: string): Promise<{ stage: Stage; operator: TestOperator }> {
  const stage = new Stage(seed);
  stage.machines.profiles.set('blue', [profile('p=1'), profile('p=2', ['big'])]);
  return { stage, operator: await stage.connect('blue') };
}

async function publish(stage: Stage, idleCount: number): Promise<void> {
  const published = stage.operators.hints.publish(
    new Supply({ big: { all: row(idleCount, 0, 1) } }),
  );
  await stage.settle();
  await published;
}

test('unchanged hints are not repeated, changed ones wait out the interval and then go', async () => {
  const { stage, operator } = await demandingStage('dedup');
  await publish(stage, 3);
  assert.deepEqual(hints(operator), [
    ['available:p=1', 3],
    ['available:p=2', 3],
  ]);
  await stage.time.runFor(60_000);
  await publish(stage, 3);
  assert.equal(hints(operator).length, 2, 'unchanged');
  await publish(stage, 4);
  assert.equal(hints(operator).length, 4, 'changed, and the interval has passed');
  await publish(stage, 5);
  assert.equal(hints(operator).length, 4, 'too early');
  await publish(stage, 4);
  await stage.time.runFor(5_000);
  await publish(stage, 4);
  assert.equal(hints(operator).length, 4, 'back to what was sent: nothing to say');
  await publish(stage, 6);
  assert.equal(hints(operator).length, 6);
  await publish(stage, 7);
  await stage.time.runFor(5_000);
  await publish(stage, 7);
  assert.deepEqual(hints(operator).slice(-2), [
    ['available:p=1', 7],
    ['available:p=2', 7],
  ]);
});

test('each profile has an interval of its own', async () => {
  const { stage, operator } = await demandingStage('own-interval');
  stage.machines.profiles.set('blue', [profile('p=1')]);
  await publish(stage, 3);
  await stage.time.runFor(3_000);
  stage.machines.profiles.set('blue', [profile('p=1'), profile('p=2', ['big'])]);
  await publish(stage, 3);
  await stage.time.runFor(2_000);
  await publish(stage, 4);
  assert.deepEqual(hints(operator).slice(2), [['available:p=1', 4]], 'the other waits its 5 s');
  await stage.time.runFor(3_000);
  await publish(stage, 4);
  assert.deepEqual(hints(operator).slice(3), [['available:p=2', 4]]);
});

test('a profile that is demanded no more is forgotten; demanded again, it is new', async () => {
  const { stage, operator } = await demandingStage('prune');
  await publish(stage, 3);
  stage.machines.profiles.set('blue', [profile('p=2', ['big'])]);
  await publish(stage, 3);
  assert.equal(hints(operator).length, 2);
  stage.machines.profiles.set('blue', [profile('p=1')]);
  await publish(stage, 3);
  assert.deepEqual(hints(operator).at(-1), ['available:p=1', 3]);
});

test('a new session is told everything again; others get their own demand only', async () => {
  const { stage } = await demandingStage('session');
  const green = await stage.connect('green');
  await publish(stage, 3);
  assert.deepEqual(hints(green), []);
  const successor = stage.dial('blue-2').hello('blue');
  await stage.settle();
  await publish(stage, 3);
  assert.equal(hints(successor).length, 2);
});

test('the catch-all follows the first applied roll-up, also without demand and supply', async () => {
  const stage = new Stage('catch-all');
  const operator = await stage.connect('blue');
  await publish(stage, 0);
  assert.deepEqual(hints(operator), [], 'nothing before a roll-up');
  stage.engine.script.push({ kind: 'rejected', code: 'malformed', detail: '' });
  operator.send({ case: 'rollup', value: rollup({ needCount: 0 }) });
  await stage.settle();
  stage.engine.script.push({ kind: 'held', rows: 0, previousRows: 20, consecutive: 1 });
  operator.send({ case: 'rollup', value: rollup({ needCount: 0 }) });
  await stage.settle();
  await publish(stage, 0);
  assert.deepEqual(hints(operator), [], 'neither refused nor held ones are applied');
  operator.send({ case: 'rollup', value: rollup({ needCount: 0 }) });
  await stage.settle();
  await publish(stage, 0);
  const [hint] = operator.all('availableCapacity');
  assert.equal(hint?.supersedesKey, 'available:any');
  assert.deepEqual(
    hint?.requirements.map(({ key, operator: op }) => [key, op]),
    [[INSTANCE_TYPE_KEY, 3]],
  );
  assert.deepEqual([hint?.availableCount, hint?.confidence], [0, Confidence.NONE]);
  await publish(stage, 0);
  assert.equal(hints(operator).length, 1, 'deduplicated like every other');
  await stage.time.runFor(5_000);
  await publish(stage, 9);
  assert.deepEqual(hints(operator).at(-1), ['available:any', 9]);
});

test('the catch-all comes for an unchanged roll-up of a new session too', async () => {
  const stage = new Stage('catch-all-unchanged');
  const first = await stage.connect('blue');
  first.send({ case: 'rollup', value: rollup() });
  await stage.settle();
  const second = stage.dial('blue-2').hello('blue');
  second.send({ case: 'rollup', value: rollup({ timestamp: 5n }) });
  await stage.settle();
  assert.equal(stage.engine.submitted.length, 1);
  await publish(stage, 2);
  assert.deepEqual(hints(second), [['available:any', 2]]);
});

test('thousands of hints let the event loop in between', async () => {
  const stage = new Stage('slices');
  const many = Array.from({ length: 5_500 }, (_, i) => profile(`p=${i}`, ['big']));
  stage.machines.profiles.set('blue', many);
  await stage.connect('blue');
  const supply = new Supply({ big: { all: row(1, 0, 1) } });
  const published = stage.operators.hints.publish(supply);
  assert.equal(supply.asked.length, 1_000);
  await stage.time.runFor(1_000);
  await published;
  assert.equal(supply.asked.length, 5_500);
});

test('many clusters with one profile: it is counted once and encoded once', async () => {
  const stage = new Stage('shared');
  const shared = profile('p=1', ['big']);
  const operators: TestOperator[] = [];
  for (const cluster of ['blue', 'green', 'red']) {
    stage.machines.profiles.set(cluster, [shared]);
    operators.push(await stage.connect(cluster));
  }
  const supply = new Supply({ big: { all: row(4, 0, 1) } });
  const published = stage.operators.hints.publish(supply);
  await stage.settle();
  await published;
  assert.equal(supply.asked.length, 1);
  for (const operator of operators) assert.deepEqual(hints(operator), [['available:p=1', 4]]);
});

test('a session at rest is not asked about, until its supply or its demand changes', async () => {
  const { stage, operator } = await demandingStage('rest');
  const publishAndCount = async (idleCount: number): Promise<number> => {
    const supply = new Supply({ big: { all: row(idleCount, 0, 1) } });
    const published = stage.operators.hints.publish(supply);
    await stage.settle();
    await published;
    return supply.asked.length;
  };
  await publishAndCount(3);
  assert.equal(await publishAndCount(3), 2, 'the counts are compared, no hint is worked out');
  await stage.time.runFor(60_000);
  assert.equal(await publishAndCount(3), 2, 'also when all of it is due');
  assert.equal(hints(operator).length, 2);
  stage.machines.profiles.set('blue', [profile('p=1'), profile('p=3', ['big'])]);
  await publishAndCount(3);
  assert.deepEqual(hints(operator).at(-1), ['available:p=3', 3], 'new demand');
  await publishAndCount(4);
  await stage.time.runFor(5_000);
  await publishAndCount(4);
  assert.deepEqual(hints(operator).slice(-2), [
    ['available:p=1', 4],
    ['available:p=3', 4],
  ]);
});

test('repeats are spread over the interval, what was never told is not, and nobody is left out', async () => {
  const stage = new Stage('spread');
  const many = Array.from({ length: 2_500 }, (_, i) => profile(`p=${i}`, ['big']));
  const operators: TestOperator[] = [];
  for (const cluster of ['blue', 'green']) {
    stage.machines.profiles.set(cluster, many);
    operators.push(await stage.connect(cluster));
  }
  const counts = (): number[] => operators.map((operator) => hints(operator).length);
  await publish(stage, 1);
  assert.deepEqual(counts(), [2_500, 2_500], 'all of them are news');
  await stage.time.runFor(5_000);
  await publish(stage, 2);
  assert.deepEqual(counts(), [5_000, 5_000], 'a whole interval has passed: no reason to wait');
  await stage.time.runFor(4_500);
  await publish(stage, 3);
  assert.deepEqual(counts(), [5_000, 5_000], 'too early for all');
  // Ten publications in one interval, each with another supply: every hint is always due.
  const sent: number[] = [];
  for (let supply = 4; supply < 14; supply++) {
    await stage.time.runFor(500);
    const [before = 0] = counts();
    await publish(stage, supply);
    const [blue = 0, green = 0] = counts();
    assert.equal(blue, green, 'a profile goes to everybody who demands it, encoded once');
    sent.push(blue - before);
  }
  assert.ok(
    sent.every((count) => count <= 340),
    sent.join(),
  );
  assert.deepEqual(counts(), [7_500, 7_500], 'each of them exactly once');
  operators[1]?.leave();
  await stage.time.runFor(5_000);
  await publish(stage, 14);
  const [whole = 0] = counts();
  await stage.time.runFor(4_500);
  await publish(stage, 14);
  for (let supply = 15; supply < 25; supply++) {
    await stage.time.runFor(500);
    await publish(stage, supply);
  }
  assert.equal(counts()[0], whole + 2_500, 'who left takes no share of what may go');
});
