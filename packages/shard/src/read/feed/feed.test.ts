// Proves the rules of the live feed over the wire: what a reader holds is the shard's state at every
// cycle, cursors resume or do not, and a reader that does not read costs nobody anything.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { ActionKind } from '@bigfleet/engine';
import { encodeInit, type MachineView, RecordFrameSchema, RpcError } from '@bigfleet/wire';
import { fourCores } from '../../core/testing/stage.ts';
import { FeedClient, type Wants } from '../testing/feed-client.ts';
import { ReadStage } from '../testing/read-stage.ts';
import { decodeCursor, encodeCursor } from './frames.ts';
import { emptyRollup } from '../../rollup/admission.ts';

function watcher(stage: ReadStage, wants: Wants = {}, from = 'reader'): FeedClient {
  return new FeedClient(stage, stage.query(undefined, from), wants);
}

/** What ListMachines says, which reads the live fleet. */
async function listed(stage: ReadStage): Promise<Map<string, MachineView>> {
  const batches = await stage.all(stage.query().listMachines({}));
  return new Map(batches.flatMap(({ machines }) => machines).map((view) => [view.machineId, view]));
}

function sorted<T>(rows: ReadonlyMap<string, T>): [string, T][] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
}

async function inspected(stage: ReadStage): Promise<Map<string, unknown>> {
  const frames = await stage.all(stage.read().inspectNeeds({}));
  return new Map(
    frames.flatMap(({ frame }) =>
      frame.case === 'need'
        ? [
            [
              [frame.value.clusterId, frame.value.profileFingerprint, ''].join('\n'),
              frame.value,
            ] as const,
          ]
        : [],
    ),
  );
}

const SEEDS = [1, 2, 3];
const STEPS = 25;

for (const seed of SEEDS) {
  test(`a snapshot and the deltas are the state, whatever happens (seed ${seed})`, async () => {
    const stage = new ReadStage(`feed-${seed}`);
    const random = createRandom(`feed-steps-${seed}`);
    for (let at = 0; at < 30; at++) stage.fake.addSpeculative(fourCores(`slot-${at}`));
    for (let at = 0; at < 10; at++) stage.fake.addIdle(fourCores(`host-${at}`));
    stage.core.start();
    await stage.settle();
    const early = watcher(stage, {}, 'early');
    const late: FeedClient[] = [];
    for (let step = 0; step < STEPS; step++) {
      const pick = random.below(6);
      if (pick < 3) await stage.demand(['blue', 'green'][random.below(2)] ?? '', random.below(60));
      if (pick === 3) {
        const lost = stage.fake.randomConfiguredMachine();
        if (lost !== undefined) stage.fake.failMachine(lost, 'gone');
      }
      if (pick === 4) stage.fake.removeMachine(`slot-${random.below(30)}`);
      if (pick === 5) late.push(watcher(stage, {}, `late-${step}`));
      await stage.time.runFor(random.below(12_000));
      for (const reader of [early, ...late]) if (random.below(2) === 0) await reader.readAll();
    }
    // Nothing is written any more: a cycle later every reader holds what the shard holds.
    await stage.demand('blue', 20);
    await stage.time.runFor(120_000);
    await stage.demand('blue', 20);
    const [machines, needs] = [await listed(stage), await inspected(stage)];
    assert.ok(machines.size > 10 && needs.size > 0);
    for (const reader of [early, ...late]) {
      await reader.readAll();
      assert.deepEqual(sorted(reader.machines), sorted(machines));
      assert.deepEqual(sorted(reader.needs), sorted(needs));
    }
    await stage.stop();
  });
}

test('after every delta a reader holds exactly the machines of that cycle', async () => {
  const stage = new ReadStage('every-cycle');
  for (let at = 0; at < 10; at++) stage.fake.addSpeculative(fourCores(`slot-${at}`));
  stage.core.start();
  await stage.settle();
  const reader = watcher(stage, { needs: false });
  let deltaCount = 0;
  for (const cores of [4, 20, 8, 0, 32, 12, 40, 4, 0, 16]) {
    await stage.demand('blue', cores);
    await stage.time.runFor(12_000);
    for (;;) {
      const frame = await reader.next();
      if (frame === undefined) break;
      if (frame.frame.case !== 'delta') continue;
      deltaCount++;
      const expected = stage.statesAtEnd.get(Number(reader.cycle));
      assert.deepEqual(sorted(reader.machines), sorted(expected ?? new Map()));
    }
  }
  assert.ok(deltaCount > 15, `only ${deltaCount} deltas`);
  assert.equal(reader.kinds.filter((kind) => kind === 'snapshotEnd').length, 1);
  await stage.stop();
});

test('the first frames are hello, the snapshot in chunks, and its end with totals', async () => {
  const stage = new ReadStage('snapshot');
  for (let at = 0; at < 600; at++) stage.fake.addSpeculative(fourCores(`slot-${at}`));
  stage.core.start();
  await stage.time.runFor(3_000);
  const reader = watcher(stage, { needs: false });
  await reader.readAll();
  assert.deepEqual(reader.kinds.slice(0, 5), [
    'hello',
    'snapshot',
    'snapshot',
    'snapshot',
    'snapshotEnd',
  ]);
  const sizes = reader.frames.map(({ frame }) =>
    frame.case === 'snapshot' ? frame.value.machines.length : 0,
  );
  assert.deepEqual(sizes.slice(1, 4), [250, 250, 100]);
  assert.deepEqual(
    reader.frames.slice(0, 4).map(({ cursor }) => cursor.length),
    [0, 0, 0, 0],
    'no cursor before everything was said',
  );
  assert.equal(decodeCursor(reader.cursor)?.epoch, 7n);
  await stage.stop();
});

test('a cursor goes on where it was; an old, foreign or broken one starts anew', async () => {
  const stage = new ReadStage('cursor');
  stage.fake.addIdle(fourCores('host'));
  stage.core.start();
  await stage.settle();
  const first = watcher(stage);
  await stage.demand('blue', 4);
  await first.readAll();
  const { cursor } = first;
  await first.close();
  await stage.demand('green', 4);
  await stage.time.runFor(30_000);
  const resumed = watcher(stage, { cursor }, 'resumed');
  resumed.machines.clear();
  for (const [id, view] of first.machines) resumed.machines.set(id, view);
  for (const [key, view] of first.needs) resumed.needs.set(key, view);
  await resumed.readAll();
  assert.deepEqual(resumed.kinds.slice(0, 2), ['hello', 'delta']);
  assert.ok(!resumed.kinds.includes('snapshotEnd'));
  assert.deepEqual([...resumed.machines], [...(await listed(stage))]);
  const place = decodeCursor(cursor);
  assert.ok(place !== undefined);
  const refused = [
    encodeCursor({ ...place, epoch: 6n }),
    encodeCursor({ ...place, rows: 1 }),
    encodeCursor({ ...place, cycle: place.cycle + 1_000 }),
    cursor.subarray(1),
  ];
  for (const bad of refused) {
    const reader = watcher(stage, { cursor: bad });
    await reader.readAll();
    const hello = reader.frames[0]?.frame;
    assert.equal(hello?.case === 'hello' && hello.value.resumed, false);
    assert.ok(reader.kinds.includes('snapshotEnd'));
    await reader.close();
  }
  await stage.stop();
});

test('deltas without needs resume nobody who watches needs', async () => {
  const stage = new ReadStage('needs-later');
  stage.core.start();
  await stage.settle();
  const machines = watcher(stage, { needs: false });
  await machines.readAll();
  const place = decodeCursor(machines.cursor);
  assert.ok(place !== undefined && place.rows === 1);
  await stage.demand('blue', 4);
  await stage.time.runFor(1_000);
  const cursor = encodeCursor({ ...place, rows: 3 });
  const needs = watcher(stage, { cursor }, 'needs');
  await needs.readAll();
  assert.ok(needs.kinds.includes('snapshotEnd'));
  assert.equal(needs.needs.size, 1);
  await stage.stop();
});

test('256 deltas are kept: one cycle more and a cursor needs a snapshot', async () => {
  for (const [cycles, isResumed] of [
    [256, true],
    [257, false],
  ] as const) {
    const stage = new ReadStage('kept');
    stage.core.start();
    await stage.settle();
    const reader = watcher(stage);
    await reader.readAll();
    const { cursor } = reader;
    const from = stage.reading.feed.log.newestCycle;
    // Another reader keeps the deltas coming.
    const other = watcher(stage, {}, 'other');
    while (stage.reading.feed.log.newestCycle < from + cycles) {
      stage.core.wake();
      await stage.settle();
      await other.readAll();
    }
    const resumed = watcher(stage, { cursor }, 'resumed');
    await resumed.readAll();
    const hello = resumed.frames[0]?.frame;
    assert.equal(hello?.case === 'hello' && hello.value.resumed, isResumed, `${cycles} cycles`);
    await stage.stop();
  }
});

test('a reader that never reads lags, is told so, and slows no cycle', async () => {
  const stage = new ReadStage('never-reads');
  for (let at = 0; at < 20; at++) stage.fake.addIdle(fourCores(`host-${at}`));
  stage.core.start();
  await stage.settle();
  const dead = watcher(stage, {}, 'dead');
  const alive = watcher(stage, {}, 'alive');
  const stuck = watcher(stage, {}, 'stuck');
  await stuck.next();
  await dead.readAll();
  await alive.readAll();
  const from = stage.core.cycleCount;
  const startMs = stage.time.nowMs;
  for (let cycle = 0; cycle < 90; cycle++) {
    await stage.demand('blue', 4 + (cycle % 2) * 4);
    await stage.time.runFor(1_000);
    await alive.readAll();
  }
  assert.ok(stage.core.cycleCount - from >= 90);
  assert.ok(stage.time.nowMs - startMs < 90 * 1_200, 'cycles kept their pace');
  assert.ok(!alive.kinds.includes('lagged'));
  await dead.readAll();
  const lagged = dead.frames.find(({ frame }) => frame.case === 'lagged')?.frame;
  assert.ok(lagged?.case === 'lagged' && lagged.value.skippedCycles > 0n);
  assert.equal(await stage.metric('feed_lagged_total'), 1);
  await stage.time.runFor(30_000);
  for (const reader of [alive, dead, stuck]) await reader.readAll();
  assert.ok(!stuck.kinds.includes('lagged'), 'a slow snapshot is caught up with in one frame');
  assert.ok(stuck.kinds.filter((kind) => kind === 'delta').length < 10);
  for (const reader of [dead, stuck]) {
    assert.deepEqual(sorted(reader.machines), sorted(alive.machines));
    assert.equal(reader.cycle, alive.cycle);
  }
  await stage.stop();
});

test('writes that change no state and actions that write nothing are told too', async () => {
  const stage = new ReadStage('quiet-writes');
  stage.fake.addIdle(fourCores('host'));
  stage.core.start();
  await stage.time.runFor(1_000);
  const reader = watcher(stage);
  await reader.readAll();
  stage.fake.setAllocatable('host', new Map([['cpu', '2']]));
  await stage.time.runFor(20_000);
  await reader.readAll();
  assert.equal(reader.machines.get('host')?.allocatable?.resources['cpu'], '2');
  const { fleet } = stage.core;
  const slot = fleet.inventory.slotOf('host');
  fleet.setPending(slot, 'in_flight');
  stage.reading.views.noteOrdered(slot, ActionKind.Bootstrap);
  stage.reading.feed.written('host');
  stage.core.wake();
  await stage.time.runFor(1_000);
  await reader.readAll();
  assert.equal(reader.machines.get('host')?.pendingAction, 'Bootstrap');
  fleet.setPending(slot, 'none');
  stage.reading.released({
    kind: ActionKind.Bootstrap,
    handle: fleet.handleOf(slot),
    machineId: 'host',
    cluster: 'blue',
    need: undefined,
    graceSeconds: 0,
    preemptorPriority: 0,
    reason: 'phase1.idle',
    cycle: 1,
  });
  stage.core.wake();
  await stage.time.runFor(1_000);
  await reader.readAll();
  assert.equal(reader.machines.get('host')?.pendingAction, '');
  await stage.stop();
});

test('16 MiB behind is too far, however few frames they are', async () => {
  const stage = new ReadStage('bytes');
  const { feed } = stage.reading;
  const readers = [
    watcher(stage, { records: true }, 'records'),
    watcher(stage, {}, 'rows'),
  ] as const;
  for (const reader of readers) await reader.readAll();
  const [hungry, frugal] = readers;
  const facts = { atUnixNanos: 1n, actions: {}, shortfallCount: 0, dollarsPerHour: 0 };
  const large = encodeInit(RecordFrameSchema, { payload: new Uint8Array(5 << 20) });
  for (let cycle = 1; cycle <= 5; cycle++) {
    feed.cycleEnded({ ...facts, cycle, records: [large] });
    await stage.settle();
  }
  assert.equal(await stage.metric('feed_lagged_total'), 1);
  await hungry.readAll();
  await frugal.readAll();
  assert.ok(hungry.kinds.includes('lagged') && !frugal.kinds.includes('lagged'));
  assert.ok(hungry.kinds.lastIndexOf('snapshotEnd') > hungry.kinds.indexOf('lagged'));
  await stage.stop();
});

test('32 readers, not one more, and a place is free again', async () => {
  const stage = new ReadStage('places');
  stage.core.start();
  await stage.settle();
  const readers = Array.from({ length: 32 }, (_, at) => watcher(stage, {}, `r${at}`));
  for (const reader of readers) await reader.next();
  assert.equal(await stage.metric('feed_readers'), 32);
  const refused = watcher(stage, {}, 'one-more');
  await refused.next();
  assert.ok(refused.ended instanceof RpcError && refused.ended.code === 'RESOURCE_EXHAUSTED');
  await readers[0]?.close();
  assert.equal(await stage.metric('feed_readers'), 31);
  const next = watcher(stage, {}, 'next');
  assert.equal((await next.next())?.frame.case, 'hello');
  await stage.stop();
});

test('only what was asked for: clusters, kinds of rows, records', async () => {
  const stage = new ReadStage('selected');
  for (let at = 0; at < 4; at++) stage.fake.addIdle(fourCores(`host-${at}`));
  stage.core.start();
  await stage.settle();
  const blue = watcher(stage, { clusterIds: ['blue'] }, 'blue');
  const records = watcher(stage, { machines: false, needs: false, records: true }, 'records');
  await stage.demand('blue', 8);
  await stage.demand('green', 8);
  await stage.time.runFor(30_000);
  await blue.readAll();
  assert.equal(blue.machines.size, 2);
  assert.deepEqual(
    [...blue.needs.values()].map(({ clusterId }) => clusterId),
    ['blue'],
  );
  await stage.demand('blue', 0);
  await stage.time.runFor(60_000);
  await blue.readAll();
  assert.equal(blue.machines.size, 0, 'a machine that left the cluster is gone for this reader');
  const forgotten = stage.host.applyRollup(emptyRollup('blue'));
  await stage.time.runFor(10_000);
  await forgotten;
  await blue.readAll();
  assert.equal(blue.needs.size, 0);
  await records.readAll();
  assert.equal(records.machines.size, 0);
  const cycles = records.frames.flatMap(({ frame }) =>
    frame.case === 'record' ? [frame.value.cycle] : [],
  );
  assert.ok(cycles.length > 3);
  assert.deepEqual(cycles, [...new Set(cycles)]);
  const actions = records.frames.reduce(
    (sum, { frame }) =>
      sum + (frame.case === 'delta' ? (frame.value.actions['Bootstrap'] ?? 0) : 0),
    0,
  );
  assert.equal(actions, 4);
  await stage.stop();
});

test('who asks for fewer frames gets them merged, and misses nothing', async () => {
  const stage = new ReadStage('interval');
  for (let at = 0; at < 8; at++) stage.fake.addIdle(fourCores(`host-${at}`));
  stage.core.start();
  await stage.settle();
  const slow = watcher(stage, { minIntervalMs: 10_000, records: true });
  await slow.readAll();
  const before = slow.frames.length;
  for (let cores = 4; cores <= 32; cores += 4) {
    await stage.demand('blue', cores);
    await stage.time.runFor(1_000);
    await slow.readAll();
  }
  const deltas = slow.kinds.slice(before).filter((kind) => kind === 'delta').length;
  assert.ok(deltas <= 3, `${deltas} frames in ten seconds`);
  await stage.time.runFor(60_000);
  await slow.readAll();
  assert.deepEqual(sorted(slow.machines), sorted(await listed(stage)));
  const bad = watcher(stage, { minIntervalMs: -1 }, 'bad');
  await bad.next();
  assert.ok(bad.ended instanceof RpcError && bad.ended.code === 'INVALID_ARGUMENT');
  await stage.stop();
});

test('without readers nothing is built, and a stopping shard ends the streams', async () => {
  const stage = new ReadStage('nobody');
  stage.fake.addIdle(fourCores('host'));
  stage.core.start();
  await stage.demand('blue', 4);
  await stage.time.runFor(60_000);
  assert.equal(stage.reading.feed.log.deltaCount, 0);
  const reader = watcher(stage);
  await reader.readAll();
  assert.equal(reader.machines.get('host')?.clusterId, 'blue');
  stage.reading.stop();
  await reader.readAll();
  assert.ok(reader.ended instanceof RpcError && reader.ended.code === 'UNAVAILABLE');
  await stage.stop();
});
