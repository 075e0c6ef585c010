// Proves what is observed of machines: dwell times and percentiles to the sample, interruptions told apart
// from drains that were ordered, machine-hours by declared risk, and minutes that are gaps when silent.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { State, type StateCode } from '@bigfleet/engine';
import { params } from '../api/index.ts';
import type { Fleet, MachineFacts, ShardFeed } from '../facts.ts';
import { createFleet } from './fleet.ts';
import { nobodyOutside } from '../testing/synthetic-fleet.ts';
import { Exposure, RISK_BINS, riskBinOf } from '../mirror/exposure.ts';
import { MINUTE_MS, Minutes } from '../mirror/minutes.ts';
import { percentilesOf } from '../mirror/transitions.ts';

const START_MS = 1_700_000_040_000;
const HOUR_MS = 3_600_000;

function machine(id: string, state: StateCode, sinceMs: number): MachineFacts {
  const isBound = state >= State.Configuring && state <= State.Draining;
  return {
    machine: id,
    state,
    cluster: isBound ? 'c' : '',
    provider: 'p',
    instanceType: 't',
    region: '',
    zone: 'z',
    rack: '',
    capacityType: 4,
    dollarsPerHour: 1,
    interruptionProbability: 0.01,
    priority: 0,
    interruptionPenaltyBucket: 1,
    reclamationPenaltyBucket: 1,
    node: '',
    sinceMs,
    pendingAction: '',
    lastError: state === State.Failed ? 'host lost' : '',
    need: '',
    group: '',
  };
}

class Stage {
  nowMs = START_MS;
  readonly fleet: Fleet = createFleet({
    nowMs: () => this.nowMs,
    isSimulated: false,
    outside: nobodyOutside,
  });
  readonly feed: ShardFeed = this.fleet.shard('s', '');
  #cycle = 0;

  constructor(machines: readonly MachineFacts[]) {
    this.feed.begin({ epoch: 1n, cycle: 0, isResumed: false });
    this.feed.snapshotPart(machines, []);
    this.feed.snapshotEnd({ machines: machines.length, needs: 0, atMs: this.nowMs });
  }

  tell(afterMs: number, changed: readonly MachineFacts[], removed: readonly string[] = []): void {
    this.nowMs += afterMs;
    this.#cycle += 1;
    this.feed.cycle({
      cycle: this.#cycle,
      atMs: this.nowMs,
      machinesChanged: changed,
      machinesRemoved: removed,
      needsChanged: [],
      needsRemoved: [],
      actions: {},
      shortfalls: 0,
      dollarsPerHour: 0,
    });
  }

  async provider() {
    const answer = await this.fleet.answer('providers', { at: 0 });
    assert.ok(answer.ok);
    const [row] = answer.value.providers;
    assert.ok(row !== undefined);
    return row;
  }
}

test('a join is measured from Configuring to Configured', async () => {
  const stage = new Stage([machine('m', State.Configuring, START_MS)]);
  stage.tell(42_000, [machine('m', State.Configured, START_MS + 42_000)]);
  const { join } = await stage.provider();
  assert.deepEqual(join, { count: 1, p50Ms: 42_000, p90Ms: 42_000, p99Ms: 42_000, maxMs: 42_000 });
  const life = await stage.fleet.answer('lifecycle', params.lifecycle.parse({}));
  assert.ok(life.ok);
  assert.deepEqual(
    life.value.edges.map(({ from, to, count }) => [from, to, count]),
    [['Configuring', 'Configured', 1]],
  );
});

const LOST: readonly (readonly [name: string, to: StateCode | undefined, isLoss: boolean])[] = [
  ['a host that fails', State.Failed, true],
  ['a machine that vanishes', undefined, true],
  ['a machine that is only an offer again', State.Speculative, true],
  ['a machine that begins to drain', State.Draining, false],
];

for (const [name, to, isLoss] of LOST) {
  test(`${name} is ${isLoss ? 'an interruption' : 'none'}`, async () => {
    const stage = new Stage([machine('m', State.Configured, START_MS)]);
    const changed = to === undefined ? [] : [machine('m', to, START_MS + HOUR_MS)];
    stage.tell(HOUR_MS, changed, to === undefined ? ['m'] : []);
    const { calibration } = await stage.provider();
    const [row] = calibration;
    assert.equal(row?.declared, 0.01);
    assert.equal(row.machineHours, 1);
    assert.equal(row.expected, 0.01);
    assert.equal(row.observed, isLoss ? 1 : 0);
  });
}

test('a warning just before the end does not move the interruption to another forecast', async () => {
  const stage = new Stage([machine('m', State.Configured, START_MS)]);
  const warned = { ...machine('m', State.Configured, START_MS), interruptionProbability: 0.99 };
  stage.tell(HOUR_MS, [warned]);
  stage.tell(60_000, [{ ...warned, state: State.Failed, cluster: '', lastError: 'gone' }]);
  const { calibration } = await stage.provider();
  assert.deepEqual(
    calibration.map(({ declared, observed }) => [declared, observed]),
    [[0.01, 1]],
  );
});

test('what a snapshot finds changed is no transition that was seen', async () => {
  const stage = new Stage([machine('m', State.Configured, START_MS)]);
  stage.nowMs += HOUR_MS;
  stage.feed.begin({ epoch: 2n, cycle: 1, isResumed: false });
  stage.feed.snapshotPart([machine('m', State.Idle, stage.nowMs)], []);
  stage.feed.snapshotEnd({ machines: 1, needs: 0, atMs: stage.nowMs });
  const { calibration, transitions } = await stage.provider();
  assert.equal(transitions, 0);
  assert.deepEqual(
    calibration.map(({ machineHours, observed }) => [machineHours, observed]),
    [[1, 0]],
  );
});

test('a machine is stuck when it stays longer than its kind and than a minute', async () => {
  const stage = new Stage([machine('slow', State.Creating, START_MS)]);
  const stuck = async (): Promise<unknown[]> => {
    const life = await stage.fleet.answer('lifecycle', params.lifecycle.parse({}));
    assert.ok(life.ok);
    return life.value.stuck.map(({ machine: { machine: id }, overdueMs }) => [id, overdueMs]);
  };
  stage.tell(60_000, []);
  assert.deepEqual(await stuck(), []);
  stage.tell(5_000, []);
  assert.deepEqual(await stuck(), [['slow', 5_000]]);
});

test('only cycles that ended while the stream stood tell how late they come', async () => {
  const stage = new Stage([]);
  const lag = async (): Promise<number> => {
    const answer = await stage.fleet.answer('shards', { at: 0 });
    assert.ok(answer.ok);
    return answer.value.shards[0]?.lag.count ?? -1;
  };
  stage.tell(1_000, []);
  assert.equal(await lag(), 0, 'the first one waited for the snapshot');
  stage.tell(1_000, []);
  assert.equal(await lag(), 1);
  stage.feed.begin({ epoch: 1n, cycle: 9, isResumed: true });
  for (let cycle = 3; cycle <= 10; cycle++) stage.tell(1_000, []);
  assert.equal(await lag(), 1, 'what was retained for a resumed stream');
  stage.tell(1_000, []);
  assert.equal(await lag(), 2);
});

test('percentiles are nearest ranks', () => {
  const samples = Array.from({ length: 200 }, (_, at) => at + 1);
  assert.deepEqual(percentilesOf(samples), {
    count: 200,
    p50Ms: 100,
    p90Ms: 180,
    p99Ms: 198,
    maxMs: 200,
  });
});

test('every probability has a bin at or above it, and zero has its own', () => {
  assert.equal(riskBinOf(0), 1);
  for (const probability of [1e-9, 0.00004, 0.0123, 0.3, 0.99, 1]) {
    const bound = RISK_BINS[riskBinOf(probability) - 1] ?? 0;
    assert.ok(
      bound >= probability && bound <= Math.max(1e-5, probability * 2),
      String(probability),
    );
  }
});

test('a checkpoint tells a past moment what was known then', () => {
  const exposure = new Exposure();
  exposure.change('p', riskBinOf(0.1), 1, START_MS);
  exposure.checkpoint(START_MS + HOUR_MS);
  exposure.interrupted('p', riskBinOf(0.1));
  exposure.checkpoint(START_MS + 2 * HOUR_MS);
  const observed = (atMs: number): unknown =>
    exposure.at('p', atMs).map((row) => [row.machineHours, row.observed]);
  assert.deepEqual(observed(START_MS + 1.5 * HOUR_MS), [[1, 0]]);
  assert.deepEqual(observed(START_MS + 3 * HOUR_MS), [[2, 1]]);
  assert.deepEqual(observed(START_MS), []);
});

test('minutes without a word are gaps, and those older than a day are gone', () => {
  const minutes = new Minutes();
  minutes.set(START_MS, 1);
  minutes.set(START_MS + 3 * MINUTE_MS, 2);
  assert.deepEqual(minutes.until(START_MS + 3 * MINUTE_MS, 4), [1, Number.NaN, Number.NaN, 2]);
  minutes.add(START_MS + 3 * MINUTE_MS, 5);
  assert.equal(minutes.at(Math.floor(START_MS / MINUTE_MS) + 3), 7);
  minutes.set(START_MS + 2 * 1_440 * MINUTE_MS, 3);
  assert.ok(Number.isNaN(minutes.at(Math.floor(START_MS / MINUTE_MS))));
  minutes.set(START_MS, 9);
  assert.ok(Number.isNaN(minutes.at(Math.floor(START_MS / MINUTE_MS))), 'the past is not written');
});
