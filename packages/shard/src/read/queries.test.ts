// Proves the read services over the wire, behind the real gate: what each answers, how it is cut,
// who may ask, and that a bad question gets a clear error.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterId } from '@bigfleet/base';
import { ActionKind, decodeRecord, explain, State } from '@bigfleet/engine';
import { type FailureCode, MachineState, Operator, RpcError } from '@bigfleet/wire';
import { fourCores } from '../core/testing/stage.ts';
import { readNewestFirst } from '../records/read-records.ts';
import { EPOCH, ReadStage, roleIdentity } from './testing/read-stage.ts';

/** Twelve hosts; blue and green are served, red is short. */
async function busyStage(seed: string): Promise<ReadStage> {
  const stage = new ReadStage(seed);
  for (let at = 0; at < 12; at++) stage.fake.addIdle(fourCores(`host-${at}`));
  stage.core.start();
  await stage.settle();
  await stage.demand('blue', 16);
  await stage.demand('green', 16);
  await stage.time.runFor(30_000);
  await stage.demand('red', 64, 10);
  await stage.time.runFor(30_000);
  return stage;
}

async function failureOf(call: () => Promise<unknown>): Promise<FailureCode> {
  try {
    await call();
  } catch (error) {
    assert.ok(error instanceof RpcError, String(error));
    return error.code;
  }
  assert.fail('the call succeeded');
}

test('readonly and admin may read, nobody else', async () => {
  const stage = await busyStage('roles');
  for (const role of ['readonly', 'admin'] as const) {
    const identity = roleIdentity(role);
    await stage.answer(stage.query(identity).getShardStatus({}));
    await stage.all(stage.read(identity).inspectNeeds({}));
  }
  for (const role of ['cluster', 'shard'] as const) {
    const query = stage.query(roleIdentity(role));
    const calls = [
      () => stage.answer(query.getShardStatus({})),
      () => stage.all(query.listMachines({})),
      () => stage.all(query.listShortfalls({})),
      () => stage.all(query.listSessions({})),
      () => stage.all(query.listBrakes({})),
      () => stage.all(query.watch({})),
      () => stage.all(query.listRecords({})),
      () => stage.answer(query.explain({ subject: { case: 'machineId', value: 'host-0' } })),
      () => stage.all(stage.read(roleIdentity(role)).inspectNeeds({})),
    ];
    for (const call of calls) assert.equal(await failureOf(call), 'PERMISSION_DENIED');
  }
  await stage.stop();
});

test('the status says what the shard is doing', async () => {
  const stage = await busyStage('status');
  const status = await stage.answer(stage.query().getShardStatus({}));
  assert.equal(status.shardId, 'shard-0');
  assert.equal(status.shardEpoch, EPOCH);
  assert.equal(Number(status.cycle), stage.core.cycleCount);
  assert.equal(status.lastCycleUnixNanos, stage.reading.cycles.newestUnixNanos);
  assert.equal(status.needRows, 3);
  assert.equal(status.shortfalls, 1);
  assert.equal(status.machinesByState['Configured'], 12);
  assert.equal(status.machinesByState['Idle'], 0);
  assert.equal(status.dollarsPerHour.toFixed(2), '2.40');
  assert.equal(status.recordsOldestCycle, 1n);
  assert.equal(status.version, '1.2.3');
  await stage.stop();
});

test('machines by id, state, cluster, provider and requirement, and cut at a limit', async () => {
  const stage = await busyStage('machines');
  const ids = async (request: Parameters<ReturnType<ReadStage['query']>['listMachines']>[0]) => {
    const batches = await stage.all(stage.query().listMachines(request));
    return {
      total: batches[0]?.total,
      ids: batches.flatMap(({ machines }) => machines).map(({ machineId }) => machineId),
    };
  };
  assert.equal((await ids({})).ids.length, 12);
  assert.deepEqual(await ids({ machineIds: ['host-3', 'nobody', 'host-3'] }), {
    total: 1,
    ids: ['host-3'],
  });
  assert.equal((await ids({ clusterIds: ['blue'] })).total, 4);
  assert.deepEqual(await ids({ states: [MachineState.IDLE] }), { total: 0, ids: [] });
  assert.equal((await ids({ states: [MachineState.CONFIGURED], limit: 5 })).ids.length, 5);
  assert.equal((await ids({ states: [MachineState.CONFIGURED], limit: 5 })).total, 12);
  assert.equal((await ids({ provider: 'alpha' })).total, 12);
  assert.equal((await ids({ provider: 'beta' })).total, 0);
  const pool = (values: string[]) => [{ key: 'pool', operator: Operator.IN, values }];
  assert.equal((await ids({ requirements: pool(['general']) })).total, 12);
  assert.equal((await ids({ requirements: pool(['special']) })).total, 0);
  const [batch] = await stage.all(stage.query().listMachines({ machineIds: ['host-0'] }));
  const [view] = batch?.machines ?? [];
  assert.equal(view?.state, MachineState.CONFIGURED);
  assert.equal(view.provider, 'alpha');
  assert.equal(view.allocatable?.resources['cpu'], '4');
  assert.equal(view.labels['pool'], 'general');
  assert.notEqual(view.needFingerprint, '');
  assert.ok(view.stateSinceUnixNanos > 0n);
  await stage.stop();
});

test('a machine under way shows its action and its node', async () => {
  const stage = new ReadStage('pending');
  stage.fake.addIdle(fourCores('host'));
  stage.core.start();
  await stage.settle();
  await stage.demand('blue', 4);
  await stage.time.runFor(1_000);
  const view = async () => {
    const [batch] = await stage.all(stage.query().listMachines({}));
    return batch?.machines[0];
  };
  const atEnd = [...stage.statesAtEnd.values()].map((views) => views.get('host'));
  assert.deepEqual(
    atEnd.map((each) => each?.pendingAction).filter((action) => action !== ''),
    ['Bootstrap'],
  );
  await stage.time.runFor(20_000);
  stage.nodeNames.set('host', 'node-7');
  const done = await view();
  assert.deepEqual(
    [done?.state, done?.pendingAction, done?.nodeName],
    [State.Configured, '', 'node-7'],
  );
  await stage.stop();
});

test('a write that changes no state leaves its time, and a stale order is no action', async () => {
  const stage = await busyStage('refreshed');
  const view = async () => {
    const [batch] = await stage.all(stage.query().listMachines({ machineIds: ['host-0'] }));
    return batch?.machines[0];
  };
  const before = await view();
  stage.fake.setAllocatable('host-0', new Map([['cpu', '3']]));
  await stage.time.runFor(20_000);
  const slot = stage.core.fleet.inventory.slotOf('host-0');
  stage.reading.views.noteOrdered(slot, ActionKind.Reclaim);
  const after = await view();
  assert.equal(after?.allocatable?.resources['cpu'], '3');
  assert.equal(after.stateSinceUnixNanos, before?.stateSinceUnixNanos);
  assert.equal(after.pendingAction, '');
  await stage.stop();
});

test('needs: header first, then by priority, cut at the limit', async () => {
  const stage = await busyStage('needs');
  const frames = await stage.all(stage.read().inspectNeeds({}));
  const header = frames[0]?.frame;
  assert.ok(header?.case === 'header');
  assert.equal(header.value.totalNeeds, 3);
  assert.equal(Number(header.value.cycle), stage.core.cycleCount);
  assert.equal(header.value.computedAtUnixNanos, stage.reading.cycles.newestUnixNanos);
  const rows = frames.flatMap(({ frame }) => (frame.case === 'need' ? [frame.value] : []));
  assert.deepEqual(
    rows.map(({ clusterId, satisfied }) => [clusterId, satisfied]),
    [
      ['blue', true],
      ['green', true],
      ['red', false],
    ],
  );
  assert.equal(rows[0]?.residualDeficit, undefined, 'unset when satisfied');
  const red = rows[2];
  assert.equal(red?.residualDeficit?.resources['cpu'], '48');
  assert.equal(red.claimedMachineCount, 4);
  assert.ok(red.ageCyclesUnmet > 0);
  assert.notEqual(red.reasonCode, '');
  const cut = await stage.all(stage.read().inspectNeeds({ limit: 1 }));
  assert.equal(cut.length, 2);
  const unknown = await stage.all(stage.read().inspectNeeds({ clusterId: 'nobody' }));
  const only = unknown[0]?.frame;
  assert.ok(unknown.length === 1 && only?.case === 'header' && only.value.totalNeeds === 0);
  await stage.stop();
});

test('shortfalls: the whole ledger, with clusters and since when', async () => {
  const stage = await busyStage('shortfalls');
  const [row, ...rest] = await stage.all(stage.query().listShortfalls({}));
  assert.equal(rest.length, 0);
  assert.deepEqual(row?.clusterIds, ['red']);
  assert.equal(row.clusterCount, 1);
  assert.equal(row.shortfall?.deficit?.resources['cpu'], '48');
  const age = row.shortfall.ageCycles;
  const first = stage.reading.cycles.at(stage.core.cycleCount - age + 1);
  assert.equal(row.firstUnmetUnixNanos, first);
  assert.equal(row.shortfall.escalate, age > 5);
  assert.deepEqual(await stage.all(stage.query().listShortfalls({ clusterId: 'blue' })), []);
  await stage.stop();
});

test('brakes: that the rail is on, and what fails in a row', async () => {
  const stage = new ReadStage('brakes');
  for (const id of ['a', 'b', 'c', 'd']) stage.fake.addIdle(fourCores(id));
  stage.core.start();
  await stage.settle();
  assert.deepEqual(
    (await stage.all(stage.query().listBrakes({}))).map(({ enabled, needs, types }) => [
      enabled,
      needs.length,
      types.length,
    ]),
    [[true, 0, 0]],
  );
  stage.fake.failJoins(({ id }) => `${id} never joined`);
  const list = async () => {
    const batches = await stage.all(stage.query().listBrakes({}));
    return {
      needs: batches.flatMap(({ needs }) => needs),
      types: batches.flatMap(({ types }) => types),
    };
  };
  await stage.demand('blue', 4);
  await stage.time.runFor(11_000);
  const [once] = (await list()).needs;
  assert.deepEqual(
    [once?.clusterId, once?.run?.failures, once?.run?.pauseSeconds, once?.run?.pauseEndsUnixNanos],
    ['blue', 1, 0, 0n],
  );
  await stage.time.runFor(30_000);
  const { needs, types } = await list();
  const [need] = needs;
  const nowUnixNanos = stage.time.runtime.clock.unixNanos();
  assert.equal(needs.length, 1);
  assert.notEqual(need?.profileFingerprint, '');
  assert.deepEqual([need?.run?.failures, need?.run?.pauseSeconds], [3, 60]);
  assert.match(need?.run?.lastError ?? '', /^[a-d] never joined$/);
  const leftNanos = (need?.run?.pauseEndsUnixNanos ?? 0n) - nowUnixNanos;
  assert.ok(leftNanos > 0n && leftNanos < 60_000_000_000n, `${leftNanos}`);
  const [type] = types;
  assert.deepEqual(
    [
      types.length,
      type?.provider,
      type?.instanceType,
      type?.run?.failures,
      type?.run?.pauseSeconds,
    ],
    [1, 'alpha', fourCores('a').instanceType, 3, 0],
    'one cluster alone brakes no type',
  );
  await stage.stop();
});

test('sessions as the session table tells them', async () => {
  const stage = await busyStage('sessions');
  stage.sessions.push({
    session: {
      cluster: 'blue' as ClusterId,
      sinceUnixNanos: 5n,
      extensions: ['node-identity'],
      presentedIdentity: 'bigfleet://cluster/blue',
      outboxFrameCount: 3,
    },
    demand: { firstRollupReceived: true, rowCount: 1, heldCount: 2, lastRollupUnixNanos: 9n },
    phantomMachineIds: () => ['m1', 'm2'],
  });
  const [view] = await stage.all(stage.query().listSessions({}));
  assert.deepEqual(
    { ...view, $typeName: undefined },
    {
      $typeName: undefined,
      clusterId: 'blue',
      connected: true,
      sinceUnixNanos: 5n,
      lastRollupUnixNanos: 9n,
      needRows: 1,
      machines: 4,
      extensions: ['node-identity'],
      outboxFrames: 3,
      quarantinedRollups: 2,
      firstRollupReceived: true,
      presentedIdentity: 'bigfleet://cluster/blue',
      phantomMachineIds: ['m1', 'm2'],
    },
  );
  await stage.stop();
});

test('an explanation over the wire is the one of the library, word for word', async () => {
  const stage = await busyStage('explain');
  await stage.records.flush();
  const [red] = await stage.all(stage.query().listShortfalls({}));
  const fingerprint = red?.profileFingerprint ?? '';
  const subjects = [
    {
      asked: { case: 'machineId', value: 'host-0' } as const,
      subject: { machineId: 'host-0' },
    },
    {
      asked: {
        case: 'need',
        value: { clusterId: 'red', profileFingerprint: fingerprint, group: '' },
      } as const,
      subject: { need: { cluster: 'red', fingerprint, group: '' } },
    },
  ];
  for (const { asked, subject } of subjects) {
    const response = await stage.answer(stage.query().explain({ subject: asked }));
    const cycle = { fromCycle: response.cycle, toCycle: response.cycle };
    const stored = (await readNewestFirst(stage.segments, cycle).next()).value;
    assert.ok(stored !== undefined);
    const record = decodeRecord(stored.payload);
    assert.ok(record.ok);
    const answer = explain(record.value, subject);
    assert.ok(answer.kind === 'explained');
    assert.equal(response.text, answer.text);
    assert.equal(response.reasonCode, answer.reasonCode);
    assert.equal(response.atUnixNanos, stored.atUnixNanos);
    assert.equal(response.candidates.length, answer.candidates.length);
    assert.deepEqual(
      response.candidates.map(({ rank, effectiveCost, reasonCode }) => [
        rank,
        effectiveCost,
        reasonCode,
      ]),
      answer.candidates.map((row) => [row.rank, row.effectiveCost, row.reasonCode]),
    );
  }
  const quiet = await stage.answer(
    stage.query().explain({ subject: { case: 'machineId', value: 'host-0' }, cycle: 1n }),
  );
  assert.match(quiet.text, /decided nothing about machine host-0/);
  assert.equal(quiet.reasonCode, '');
  await stage.stop();
});

test('what would have helped is tried on the inputs of that cycle', async () => {
  const stage = await busyStage('counterfactual');
  await stage.records.flush();
  const [red] = await stage.all(stage.query().listShortfalls({}));
  const value = {
    clusterId: 'red',
    profileFingerprint: red?.profileFingerprint ?? '',
    group: '',
  };
  const subject = { case: 'need', value } as const;
  const response = await stage.answer(stage.query().explain({ subject, counterfactuals: true }));
  const plain = await stage.answer(stage.query().explain({ subject }));
  assert.ok(response.text.startsWith(plain.text));
  assert.ok(response.counterfactuals.length > 0 || response.text.length > plain.text.length);
  assert.ok(response.counterfactuals.every(({ verified }) => verified));
  await stage.stop();
});

test('records by cycle, time and subject, and the ones to come', async () => {
  const stage = await busyStage('records');
  await stage.records.flush();
  const cycles = async (request: Parameters<ReturnType<ReadStage['query']>['listRecords']>[0]) =>
    (await stage.all(stage.query().listRecords(request))).map(({ cycle }) => Number(cycle));
  const all = await cycles({});
  const count = stage.core.cycleCount;
  assert.deepEqual(
    all,
    Array.from({ length: count }, (_, at) => at + 1),
  );
  assert.deepEqual(await cycles({ fromCycle: 2n, toCycle: 4n }), [2, 3, 4]);
  assert.deepEqual(await cycles({ limit: 2 }), [1, 2]);
  const [third] = await stage.all(stage.query().listRecords({ fromCycle: 3n, toCycle: 3n }));
  assert.equal(third?.shardEpoch, EPOCH);
  assert.equal(third.format, 2);
  assert.equal(Buffer.from(third.actionHash).toString('hex'), stage.hashes[2]);
  assert.ok(decodeRecord(third.payload).ok);
  const { atUnixNanos } = third;
  const sameTime = await cycles({ fromUnixNanos: atUnixNanos, toUnixNanos: atUnixNanos });
  assert.ok(sameTime.includes(3));
  const about = await cycles({ machineId: 'host-0' });
  assert.ok(about.length >= 1 && about.length < count);
  const following = stage.query().listRecords({ follow: true, fromCycle: BigInt(count) });
  const next = async () => {
    const step = await stage.answer(following.next());
    return step.done === true ? undefined : step.value.cycle;
  };
  assert.equal(await next(), BigInt(count));
  await stage.demand('blue', 20);
  await stage.time.runFor(1_000);
  assert.equal(await next(), BigInt(count + 1));
  await stage.answer(Promise.resolve(following.return?.()));
  await stage.stop();
});

test('a follower that reads slowly goes on from the files and misses nothing', async () => {
  const stage = new ReadStage('slow-follower');
  stage.fake.addIdle(fourCores('host'));
  stage.core.start();
  await stage.settle();
  const following = stage.query().listRecords({ follow: true });
  const seen: number[] = [];
  const take = async () => {
    const step = await stage.answer(following.next());
    if (step.done !== true) seen.push(Number(step.value.cycle));
  };
  await take();
  for (let cycle = 0; cycle < 150; cycle++) {
    await stage.demand('blue', 4 + (cycle % 2) * 4);
    await stage.time.runFor(1_000);
  }
  const count = stage.core.cycleCount;
  assert.ok(count > 140);
  while ((seen.at(-1) ?? 0) < count) await take();
  assert.deepEqual(
    seen,
    Array.from({ length: count }, (_, at) => at + 1),
  );
  await stage.answer(Promise.resolve(following.return?.()));
  await stage.stop();
});

test('a bad question gets a clear error', async () => {
  const stage = await busyStage('bad');
  const query = stage.query();
  const asked = (request: Parameters<typeof query.explain>[0]) => () =>
    stage.answer(query.explain(request));
  const bad: [FailureCode, () => Promise<unknown>][] = [
    ['INVALID_ARGUMENT', () => stage.all(query.listMachines({ limit: -1 }))],
    [
      'INVALID_ARGUMENT',
      () => stage.all(query.listMachines({ states: [MachineState.UNSPECIFIED] })),
    ],
    [
      'INVALID_ARGUMENT',
      () =>
        stage.all(
          query.listMachines({
            requirements: [{ key: 'a', operator: Operator.UNSPECIFIED, values: [] }],
          }),
        ),
    ],
    ['INVALID_ARGUMENT', () => stage.all(query.listShortfalls({ limit: -1 }))],
    ['INVALID_ARGUMENT', () => stage.all(stage.read().inspectNeeds({ limit: -1 }))],
    ['INVALID_ARGUMENT', asked({})],
    ['INVALID_ARGUMENT', asked({ subject: { case: 'machineId', value: '' } })],
    ['NOT_FOUND', asked({ subject: { case: 'machineId', value: 'nobody' } })],
    ['NOT_FOUND', asked({ subject: { case: 'machineId', value: 'host-0' }, cycle: 99_999n })],
    ['INVALID_ARGUMENT', () => stage.all(query.listRecords({ machineId: 'a', need: {} }))],
  ];
  for (const [code, call] of bad) assert.equal(await failureOf(call), code);
  await stage.stop();
});
