// Proves fact by fact what a closed loop takes over from a recording (failures, lost hosts, roll-backs,
// transfers, quota, holds, memory) and what it works out itself, on worlds of a few machines.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CapacityType } from '../model/capacity-type.ts';
import { heldOffKey } from '../model/cycle.ts';
import type { Machine } from '../model/machine.ts';
import { needKey } from '../model/need.ts';
import { State } from '../model/state.ts';
import { cores, machine, machines, need, RACK_KEY } from '../testing/build.ts';
import type { WhatIfAnswer } from './answer.ts';
import type { Change } from './change.ts';
import { Survey } from './survey.ts';
import { CYCLE_MS, RecordedWorld, tracesOf } from './testing/recorded-world.ts';
import { whatIf, type WhatIfOptions } from './what-if.ts';

const units = (count: number, init: Partial<Parameters<typeof need>[0]> = {}) =>
  need({ wants: cores(count), unit: cores(1), priority: 1_000, ...init });

async function answerOf(
  world: RecordedWorld,
  changes: readonly Change[] = [],
  options: WhatIfOptions = {},
): Promise<WhatIfAnswer> {
  const answer = await whatIf(tracesOf(world.close()), changes, options);
  assert.ok(answer.ok, answer.ok ? '' : answer.error.text);
  return answer.value;
}

function assertAsRecorded({ fidelity }: WhatIfAnswer): void {
  assert.deepEqual([fidelity.boundDistance, fidelity.dollarsPerHourDistance], [0, 0]);
  assert.deepEqual(fidelity.baseline, fidelity.recorded);
}

const failed = (self: RecordedWorld, id: string): Machine => ({
  ...self.read(id),
  state: State.Failed,
  lastError: 'never joined',
});

test('a machine that appears in a lost zone is lost too', async () => {
  const world = new RecordedWorld({ machines: machines(1, 'm', { state: 'Idle', zone: 'z1' }) });
  world.run(30, (self, cycle) => {
    if (cycle === 3) self.put(machine({ id: 'late', state: 'Speculative', zone: 'z1' }));
    if (cycle === 4) self.rollup('a', [units(1)]);
  });
  const lost: Change = { kind: 'lose_zone', zone: 'z1', afterMs: CYCLE_MS };
  const { changed } = await answerOf(world, [lost]);
  assert.equal(changed.churn.actionsByKind['Provision'], 0);
  assert.equal(changed.shortfalls.service.unmetSeconds, 250);
});

test('Configures that fail in the recording fail in the loop, and its brake holds the need off', async () => {
  const world = new RecordedWorld({ machines: machines(4, 'm', { state: 'Idle' }) });
  world.run(40, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [units(1)]);
    const id = `m${cycle}`;
    if (cycle >= 1 && cycle <= 3) self.put(failed(self, id));
  });
  const { baseline, fidelity } = await answerOf(world);
  assert.equal(fidelity.skippedEventCount, 0);
  assert.equal(baseline.churn.actionsByKind['Bootstrap'], 4);
  // The recorder has no brake and takes the fourth machine at once: the loop waits its minute.
  assert.equal(baseline.shortfalls.service.longestMs, 60_000);
});

test('a Configure that is rolled back goes back in the loop', async () => {
  const world = new RecordedWorld({ machines: machines(1, 'm', { state: 'Idle' }) });
  world.run(20, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [units(1)]);
    if (cycle === 1) self.rollBack('m1');
  });
  const answer = await answerOf(world);
  assertAsRecorded(answer);
  assert.equal(answer.baseline.churn.actionsByKind['Bootstrap'], 2);
});

test('a lost host is lost whatever the loop does with the machine', async () => {
  const served = units(1);
  const world = new RecordedWorld({
    machines: [
      machine({
        id: 'm',
        state: 'Configured',
        serves: served,
        capacityType: CapacityType.Reserved,
      }),
    ],
  });
  world.run(61, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [served]);
    if (cycle === 30) self.put({ ...failed(self, 'm'), host: undefined });
  });
  const { changed } = await answerOf(world, [{ kind: 'demand', cluster: '', factor: 0 }]);
  assert.equal(changed.churn.actionsByKind['Reclaim'], 1, 'idle by then');
  assert.equal(changed.series.dollarsPerHour.at(0), 1);
  assert.equal(changed.series.dollarsPerHour.at(-1), 0);
});

test('a drain ends with its grace where that is shorter than its provider takes', async () => {
  const dwell = { createMs: 10_000, configureMs: 10_000, drainMs: 60_000, deleteMs: 5_000 };
  const low = units(4, { cluster: 'low', priority: 0 });
  const world = new RecordedWorld({
    machines: machines(4, 'm', {
      state: 'Configured',
      serves: low,
      cluster: 'low',
      capacityType: CapacityType.Reserved,
    }),
    dwell,
  });
  world.run(60, (self, cycle) => {
    if (cycle === 0) self.rollup('low', [low]);
    if (cycle === 2) self.rollup('low', [units(2, { cluster: 'low', priority: 0 })]);
    if (cycle === 30) self.rollup('high', [units(3, { cluster: 'high', priority: 1_000_000 })]);
  });
  const answer = await answerOf(world);
  assertAsRecorded(answer);
  const { churn } = answer.baseline;
  assert.deepEqual([churn.actionsByKind['Reclaim'], churn.actionsByKind['Preempt']], [2, 1]);
  assert.equal(answer.model.dwells.find(({ transition }) => transition === 'drain')?.ms, 60_000);
  assert.equal(answer.baseline.machineHoursByState['Draining'], 0.036, '60 s, 60 s and 10 s');
  assert.equal(churn.clusterChangeCount, 3);
});

test('the reclaim cap defers what it deferred', async () => {
  const served = units(40);
  const world = new RecordedWorld({
    machines: machines(40, 'm', { state: 'Configured', serves: served }),
  });
  world.run(3, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [served]);
    if (cycle === 1) self.rollup('a', []);
  });
  const { churn } = (await answerOf(world)).baseline;
  assert.deepEqual([churn.actionsByKind['Reclaim'], churn.deferredCount], [2 + 1, 38 + 37]);
});

test('a machine that is withheld is not acted on while it is', async () => {
  const world = new RecordedWorld({ machines: machines(2, 'm', { state: 'Idle' }) });
  const slot = (self: RecordedWorld, id: string): number => self.engine.view.inventory.slotOf(id);
  world.run(30, (self, cycle) => {
    if (cycle === 1) self.put({ ...self.read('m1'), withheld: 'transfer_reserved' });
    if (cycle === 1) self.engine.inventory.withhold(slot(self, 'm2'), 'transfer_frozen');
    if (cycle === 2) self.rollup('a', [units(2)]);
    if (cycle === 10) self.engine.inventory.withhold(slot(self, 'm2'), undefined);
    if (cycle === 20) self.put({ ...self.read('m1'), withheld: undefined });
  });
  const answer = await answerOf(world);
  assertAsRecorded(answer);
  assert.equal(answer.baseline.churn.actionsByKind['Bootstrap'], 2);
  assert.equal(answer.baseline.shortfalls.service.unmetSeconds, 180);
});

test('recorded holds and held-off needs hold in the loop', async () => {
  const wanted = units(1);
  const world = new RecordedWorld({ machines: machines(2, 'm', { state: 'Idle' }) });
  world.run(40, (self, cycle) => {
    if (cycle === 0) {
      self.engine.releasePolicy = { onDemandHoldMs: 100_000, spotHoldMs: 0 };
      self.engine.setHeldOff(new Set([heldOffKey('a', wanted.profile.fingerprint)]));
      self.rollup('a', [wanted]);
    }
    if (cycle === 5) self.engine.setHeldOff(new Set());
  });
  const answer = await answerOf(world);
  assertAsRecorded(answer);
  const { churn, shortfalls } = answer.baseline;
  assert.deepEqual([churn.actionsByKind['Bootstrap'], churn.actionsByKind['Delete']], [1, 1]);
  assert.equal(shortfalls.service.unmetSeconds, 50);
});

test('a gang that was parked when the recording began is parked', async () => {
  const gang = units(2, { same: RACK_KEY, group: 'g' });
  const world = new RecordedWorld({
    machines: [
      machine({ id: 'm1', rack: 'r1', state: 'Idle' }),
      machine({ id: 'm2', rack: 'r2', state: 'Idle' }),
    ],
    memory: { parkingAges: new Map([[needKey(gang), 20]]), shortfalls: new Map() },
  });
  world.run(8, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [gang]);
  });
  const answer = await answerOf(world);
  assertAsRecorded(answer);
  assert.equal(answer.baseline.churn.actionsByKind['Bootstrap'], 0);
});

test('a slice of quota counts what the recorded fleet held of it', async () => {
  const served = units(2);
  const world = new RecordedWorld({
    machines: [
      ...machines(2, 'held', { state: 'Configured', serves: served }),
      ...machines(9, 'm', { state: 'Speculative' }),
    ],
    quota: new Map([['provider', 4]]),
  });
  world.run(20, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [served]);
  });
  const { changed } = await answerOf(world, [{ kind: 'demand', cluster: '', factor: 4 }]);
  assert.equal(changed.churn.actionsByKind['Provision'], 2);
});

test('demand that the baseline cannot meet either is no break', async () => {
  const world = new RecordedWorld({ machines: machines(1, 'm', { state: 'Idle' }) });
  world.run(60, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [units(5)]);
  });
  const dearer: Change = { kind: 'price', of: { capacityType: 3 }, setting: { factor: 2 } };
  const { breaks, changed } = await answerOf(world, [dearer], { breakAfterMs: 60_000 });
  assert.deepEqual(breaks, []);
  assert.equal(changed.shortfalls.service.rowCount, 1);
});

test('the median of a long recording weighs its beginning like its end', () => {
  const survey = new Survey([]);
  const idle = machine({ id: 'm', state: 'Idle' });
  survey.take({ kind: 'enter', machine: idle, sinceMs: 0 }, 0);
  const configuring: Machine = { ...idle, state: State.Configuring, cluster: 'a' };
  let atMs = 0;
  for (let at = 0; at < 10_000; at++) {
    survey.take({ kind: 'step', machine: idle, to: State.Configuring }, atMs);
    atMs += at < 5_100 ? 1_000 : 3_000;
    survey.take({ kind: 'step', machine: configuring, to: State.Configured }, atMs);
  }
  const dwell = survey.dwells().find(({ transition }) => transition === 'configure');
  assert.deepEqual([dwell?.ms, dwell?.observedCount], [1_000, 10_000]);
});

for (const startMs of [1_000, 100_000_000]) {
  test(`an operation that was under way at the start takes its time from there (start at ${startMs})`, async () => {
    const world = new RecordedWorld({
      machines: [machine({ id: 'm', state: 'Creating', capacityType: CapacityType.Reserved })],
      startMs,
    });
    const { baseline, model } = await answerOf(world.run(31));
    assert.equal(model.dwells.find(({ transition }) => transition === 'create')?.ms, 120_000);
    assert.equal(baseline.machineHoursByState['Creating'], 0.033, 'two minutes');
    assert.equal(baseline.machineHoursByState['Idle'], 0.05, 'three minutes');
  });
}

test('a share that would add more machines than can be modelled is refused', async () => {
  const world = new RecordedWorld({ machines: machines(1_001, 'm', { state: 'Idle' }) }).run(2);
  const share: Change = {
    kind: 'capacity',
    capacityType: CapacityType.OnDemand,
    by: { share: 1_000 },
  };
  const answer = await whatIf(tracesOf(world.close()), [share]);
  assert.deepEqual(answer.ok ? undefined : answer.error, {
    code: 'too_many_machines',
    text: 'on-demand=+100000%: 1001000 machines more are more than 1000000',
  });
});
