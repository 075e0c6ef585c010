// Proves each rule of the shard's client of the coordinator (coordinator §6.2) against scripted
// coordinators: when it reports, whom it believes, what it does twice and what never, and what becomes
// of its acknowledgements.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { InstructAck_Outcome, RpcError, type ShardReport } from '@bigfleet/wire';
import { ClientStage } from './testing/client-stage.ts';
import { assignZone, instruction, transfer } from './testing/instructions.ts';

const { ACCEPTED, FAILED, REJECTED_INVALID, REJECTED_STALE } = InstructAck_Outcome;
const acksOf = (report: ShardReport | undefined): string[] =>
  (report?.instructionAcks ?? []).map(
    ({ instructionId, outcome }) => `${instructionId} ${outcome}`,
  );
const one = (id: string, term = 1n) => instruction(id, assignZone(id), { coordinatorTerm: term });

test('the first report goes out at once, the next at the interval, each newer than the last', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator();
  stage.control.clusters = ['blue', 'green'];
  await stage.start();
  assert.equal(coordinator.reports.length, 1);
  await stage.ticks(3);
  assert.deepEqual(
    coordinator.reports.map(({ cycle }) => cycle),
    [1n, 2n, 3n, 4n],
  );
  const [report] = coordinator.reports;
  assert.deepEqual(
    [report?.shardId, report?.shardEpoch, report?.shardAddress, report?.clusterIds],
    ['s1', 7n, 's1:7780', ['blue', 'green']],
  );
  assert.equal(await stage.metric('coordinator_report_total{outcome="success"}'), 4);
  assert.equal(stage.logged('coord client started').length, 1);
  assert.match(stage.logged('coord client started')[0] ?? '', / interval=10s$/);
  await stage.stop();
  assert.equal(stage.logged('coord client stopped').length, 1);
});

test('a report that nobody answers ends with its deadline, and the next goes out', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator();
  coordinator.script = () => undefined;
  await stage.start();
  await stage.time.runFor(9_000);
  assert.equal(coordinator.reports.length, 1, 'one at a time, and none in between');
  coordinator.script = () => ({ coordinatorTerm: 1n, acknowledged: true });
  await stage.ticks(2);
  assert.ok(coordinator.reports.length >= 2);
  assert.equal(await stage.metric('coordinator_report_total{outcome="error"}'), 1);
  assert.equal(stage.logged('ReportShard failed').length, 1);
  await stage.stop();
});

test('acknowledgements ride the next report; when it fails they come first in the one after', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator();
  coordinator.answer({ instructions: [one('a')] });
  await stage.start();
  coordinator.script = () => {
    throw new RpcError('PERMISSION_DENIED', 'not you');
  };
  await stage.ticks(1);
  assert.deepEqual(acksOf(coordinator.reports[1]), [`a ${ACCEPTED}`]);
  coordinator.script = () => ({ coordinatorTerm: 1n, acknowledged: true });
  coordinator.answer({ instructions: [one('b')] });
  await stage.ticks(1);
  assert.deepEqual(acksOf(coordinator.reports[2]), [`a ${ACCEPTED}`]);
  await stage.ticks(1);
  assert.deepEqual(acksOf(coordinator.reports[3]), [`b ${ACCEPTED}`], 'delivered ones are gone');
  await stage.stop();
});

const unbelieved: readonly (readonly [string, object, string])[] = [
  ['an older term', { coordinatorTerm: 4n }, 'stale_term'],
  ['no term', { coordinatorTerm: 0n }, 'stale_term'],
  ['a report that was ignored', { coordinatorTerm: 5n, acknowledged: false }, 'not_acknowledged'],
];
for (const [name, envelope, outcome] of unbelieved) {
  test(`${name}: nothing is done, and the acknowledgements are kept`, async () => {
    const stage = new ClientStage({ term: '5\n' });
    const coordinator = stage.coordinator();
    coordinator.script = () => ({ coordinatorTerm: 5n, acknowledged: true });
    coordinator.answer(
      { coordinatorTerm: 5n, instructions: [one('a', 5n)] },
      {
        ...envelope,
        instructions: [one('z', 5n)],
        assignment: { revision: 9n, complete: true },
        retiredTransferIds: ['t'],
      },
    );
    await stage.start();
    await stage.ticks(1);
    assert.deepEqual(stage.control.told, ['no news', 'assign zone=a']);
    await stage.ticks(1);
    assert.deepEqual(acksOf(coordinator.reports[2]), [`a ${ACCEPTED}`], 'a zombie got them first');
    assert.equal(await stage.metric(`coordinator_report_total{outcome="${outcome}"}`), 1);
    assert.equal(stage.client.term, 5n, 'a rejection never moves the mark');
    await stage.stop();
  });
}

test('without a term, instructions are nobody’s, also before any term was heard', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator();
  coordinator.answer({ coordinatorTerm: 0n, instructions: [one('a', 0n)] });
  await stage.start();
  assert.deepEqual(stage.control.told, []);
  assert.equal(stage.logged('coordinator term validation failed').length, 1);
  await stage.stop();
});

test('an equal term is believed, a higher one is on disk before it is acted on', async () => {
  const stage = new ClientStage({ term: '5' });
  const coordinator = stage.coordinator();
  coordinator.script = () => ({ coordinatorTerm: 5n, acknowledged: true });
  coordinator.answer(
    { coordinatorTerm: 5n, instructions: [one('a', 5n)] },
    { coordinatorTerm: 8n, instructions: [one('b', 8n)] },
  );
  await stage.start();
  assert.deepEqual(stage.control.told, ['no news', 'assign zone=a']);
  stage.term.isFull = true;
  await stage.ticks(1);
  assert.deepEqual(stage.control.told, ['no news', 'assign zone=a'], 'not durable, not believed');
  coordinator.answer({ coordinatorTerm: 8n, instructions: [one('b', 8n)] });
  await stage.ticks(1);
  assert.equal(stage.control.told.includes('assign zone=b'), false, 'heard twice is not durable');
  assert.equal(stage.client.term, 5n);
  stage.term.isFull = false;
  coordinator.answer({ coordinatorTerm: 8n, instructions: [one('b', 8n)] });
  await stage.ticks(1);
  assert.deepEqual([stage.term.text, stage.client.term], ['8\n', 8n]);
  assert.equal(stage.control.told.at(-1), 'assign zone=b');
  assert.equal(coordinator.reports.at(-1)?.observedCoordinatorTerm, 5n);
  await stage.ticks(1);
  assert.equal(coordinator.reports.at(-1)?.observedCoordinatorTerm, 8n);
  await stage.stop();
});

for (const text of ['', 'five', '-1', '5 6', '5\n\n']) {
  test(`a stored term of ${JSON.stringify(text)} refuses the start`, async () => {
    const stage = new ClientStage({ term: text });
    await assert.rejects(stage.start(), (error) => {
      assert.ok(error instanceof BigFleetError);
      assert.equal(error.code, 'coordinator_term_corrupt');
      return true;
    });
    stage.network.close();
  });
}

test('an instruction of an older term is refused by itself', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator();
  coordinator.script = () => ({ coordinatorTerm: 6n, acknowledged: true });
  coordinator.answer({ coordinatorTerm: 6n, instructions: [one('old', 5n), one('new', 6n)] });
  await stage.start();
  assert.deepEqual(stage.control.told, ['no news', 'assign zone=new']);
  await stage.ticks(1);
  const [ack] = coordinator.reports[1]?.instructionAcks ?? [];
  assert.deepEqual([ack?.outcome, ack?.reasonCode], [REJECTED_STALE, 'stale_term']);
  await stage.stop();
});

test('in the order of their numbers, one after the other', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator();
  const at = (id: string, sequenceNumber: bigint) =>
    instruction(id, assignZone(id), { sequenceNumber });
  coordinator.answer({ instructions: [at('c', 10n), at('a', 2n), at('b', 9n)] });
  const gate = Promise.withResolvers<void>();
  stage.control.gate = gate.promise;
  await stage.start();
  assert.deepEqual(stage.control.told, ['no news', 'assign zone=a']);
  await stage.ticks(2);
  assert.equal(coordinator.reports.length, 3, 'reports go on while an instruction waits');
  assert.deepEqual(stage.control.told.filter((each) => each.startsWith('assign')).length, 1);
  gate.resolve();
  await stage.ticks(0);
  assert.deepEqual(
    stage.control.told.filter((each) => each.startsWith('assign')),
    ['assign zone=a', 'assign zone=b', 'assign zone=c'],
  );
  await stage.stop();
});

test('what was accepted is not done again, and is acknowledged again with its first result', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator();
  stage.control.outcome = {
    kind: 'accepted',
    machineIds: ['m1', 'm2'],
    covered: new Map([['cpu', '8']]),
  };
  const prepare = instruction('p', transfer(1));
  coordinator.answer({ instructions: [prepare] }, {}, { instructions: [prepare] });
  await stage.start();
  await stage.ticks(3);
  assert.deepEqual(
    stage.control.told.filter((each) => each.startsWith('prepare')),
    ['prepare t1'],
  );
  const [first] = coordinator.reports[1]?.instructionAcks ?? [];
  assert.deepEqual(
    [first?.outcome, first?.machineIds, first?.covered?.resources, first?.reasonCode],
    [ACCEPTED, ['m1', 'm2'], { cpu: '8' }, ''],
  );
  const [again] = coordinator.reports[3]?.instructionAcks ?? [];
  assert.deepEqual(
    [again?.outcome, again?.machineIds, again?.reason, again?.reasonCode],
    [ACCEPTED, ['m1', 'm2'], 'duplicate-redelivery', 'duplicate_redelivery'],
  );
  await stage.stop();
});

test('what failed is done again when it is delivered again', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator();
  stage.control.outcome = new BigFleetError('ownership_unwritable', 'the disk is full');
  coordinator.answer({ instructions: [one('a')] }, { instructions: [one('a')] });
  await stage.start();
  stage.control.outcome = { kind: 'accepted' };
  await stage.ticks(2);
  assert.equal(stage.control.told.filter((each) => each === 'assign zone=a').length, 2);
  const [failed] = coordinator.reports[1]?.instructionAcks ?? [];
  assert.deepEqual([failed?.outcome, failed?.reason], [FAILED, 'the disk is full']);
  assert.deepEqual(acksOf(coordinator.reports[2]), [`a ${ACCEPTED}`]);
  await stage.stop();
});

test('an instruction that is under way is not begun again, however often it is delivered', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator();
  const gate = Promise.withResolvers<void>();
  stage.control.gate = gate.promise;
  stage.control.outcome = { kind: 'failed', code: '', detail: 'later' };
  const reply = { instructions: [one('a'), one('b')] };
  coordinator.answer(reply, reply, reply);
  await stage.start();
  await stage.ticks(3);
  gate.resolve();
  await stage.ticks(1);
  const begun = stage.control.told.filter((each) => each.startsWith('assign'));
  assert.deepEqual(begun, ['assign zone=a', 'assign zone=b']);
  await stage.stop();
});

test('a bug in an order is a failure with its trace in the log, and the loop goes on', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator();
  stage.control.outcome = new TypeError('cannot read properties');
  coordinator.answer({ instructions: [one('a')] });
  await stage.start();
  await stage.ticks(1);
  assert.deepEqual(acksOf(coordinator.reports[1]), [`a ${FAILED}`]);
  assert.equal(stage.logged('instruction failed').length, 1);
  await stage.stop();
});

test('an instruction without an id is ignored, one without a payload refused', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator();
  const nothing = instruction('x', { case: undefined });
  coordinator.answer({ instructions: [one(''), nothing] });
  await stage.start();
  await stage.ticks(1);
  assert.deepEqual(stage.control.told, ['no news', 'no news']);
  const acks = coordinator.reports[1]?.instructionAcks ?? [];
  assert.deepEqual(
    acks.map(({ instructionId, outcome, reason, reasonCode }) => [
      instructionId,
      outcome,
      reason,
      reasonCode,
    ]),
    [['x', REJECTED_INVALID, 'unknown payload', 'unknown_payload']],
  );
  await stage.stop();
});

test('the assignment comes before the instructions of the same answer; retired ones are forgotten', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator();
  coordinator.answer({
    instructions: [one('a')],
    assignment: {
      revision: 12n,
      ledgerGeneration: 3n,
      complete: true,
      domains: [{ topologyKey: 'zone', topologyValue: 'a', shardId: 's1' }],
      quotas: [{ provider: 'p', region: 'r', slice: -4 }],
      adopted: [{ machineId: 'm', transferId: 't', peerShardId: 's2' }],
      ownsUnmatchedProviders: ['h:1'],
      providers: [{ name: 'p', address: 'h:1', region: 'r', shared: true }],
    },
    retiredTransferIds: ['t8', 't9'],
  });
  await stage.start();
  assert.deepEqual(stage.control.told, ['assignment 12', 'retire t8,t9', 'assign zone=a']);
  assert.deepEqual(stage.control.assignments, [
    {
      revision: 12n,
      generation: 3n,
      isComplete: true,
      domains: [{ key: 'zone', value: 'a', shardId: 's1' }],
      foreignDomains: [],
      quotas: [{ provider: 'p', region: 'r', slice: 0 }],
      adopted: [{ machineId: 'm', transferId: 't', peerShardId: 's2' }],
      released: [],
      ownsUnmatchedProviders: ['h:1'],
      providers: [{ name: 'p', address: 'h:1', region: 'r', isShared: true }],
    },
  ]);
  await stage.ticks(1);
  assert.equal(coordinator.reports[1]?.assignmentRevision, 12n);
  await stage.stop();
});

test('an assignment that cannot be kept is not reported, and its instructions wait', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator();
  const reply = { instructions: [one('a')], assignment: { revision: 12n, complete: true } };
  stage.control.assignmentError = new BigFleetError('ownership_unwritable', 'the disk is full');
  coordinator.answer(reply, reply);
  await stage.start();
  assert.deepEqual(stage.control.told, []);
  stage.control.assignmentError = undefined;
  await stage.ticks(1);
  assert.equal(coordinator.reports[1]?.assignmentRevision, 0n);
  assert.deepEqual(stage.control.told, ['assignment 12', 'assign zone=a']);
  await stage.stop();
});

test('a report is silent about an emptied domain only when that is durable', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator();
  const domain = (value: string) => ({ key: 'zone', value, shardId: 's1' });
  stage.control.owned = { ...stage.control.owned, releasingDomains: [domain('a'), domain('b')] };
  stage.control.emptyZones = new Set(['a']);
  stage.control.closeError = new BigFleetError('ownership_unwritable', 'the disk is full');
  await stage.start();
  stage.control.closeError = undefined;
  await stage.ticks(1);
  const named = coordinator.reports.map(({ releasingDomains }) =>
    releasingDomains.map(({ topologyValue }) => topologyValue),
  );
  assert.deepEqual(named, [['a', 'b'], ['b']]);
  assert.equal(stage.logged('ownership could not be made durable').length, 1);
  await stage.stop();
});

test('what is held is told when it is asked for, and only then', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator();
  stage.control.heldNow = {
    domains: [{ key: 'zone', value: 'a', shardId: 's1' }],
    overrides: [{ machineId: 'm', transferId: 't', peerShardId: 's2' }],
    providers: [{ name: 'p', address: 'h:1', region: 'r', isShared: true }],
    homes: ['h:1'],
    others: ['s9'],
  };
  coordinator.answer({ sendHeld: true }, { sendHeld: false });
  await stage.start();
  await stage.ticks(2);
  const held = coordinator.reports.map((report) => [
    ...report.heldDomains.map((at) => `${at.topologyKey}=${at.topologyValue}@${at.shardId}`),
    ...report.heldOverrides.map(({ machineId }) => machineId),
    ...report.heldProviders.map(({ name }) => name),
    ...report.heldHomes,
    ...report.knownShards,
  ]);
  assert.deepEqual(held, [[], ['zone=a@s1', 'm', 'p', 'h:1', 's9'], []]);
  await stage.stop();
});

test('clusters that are bound elsewhere are said loudly, once, and counted while it lasts', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator();
  const conflict = { clusterConflicts: [{ clusterId: 'blue', shardId: 's2' }] };
  coordinator.answer(conflict, conflict, {});
  await stage.start();
  assert.equal(await stage.metric('cluster_binding_conflict'), 1);
  await stage.ticks(1);
  assert.equal(stage.logged('cluster bound to another shard').length, 1);
  assert.match(
    stage.logged('cluster bound to another shard')[0] ?? '',
    /level=ERROR.*cluster=blue/,
  );
  await stage.ticks(1);
  assert.equal(await stage.metric('cluster_binding_conflict'), 0);
  await stage.stop();
});

test('stopping cancels a report under way and starts nothing more', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator();
  coordinator.script = () => undefined;
  await stage.start();
  stage.client.stop();
  await stage.time.runFor(1);
  await stage.client.stopped;
  await stage.ticks(3);
  assert.equal(coordinator.reports.length, 1);
  assert.deepEqual(stage.logged('ReportShard failed'), []);
  stage.network.close();
});
