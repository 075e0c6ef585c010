// Proves operator-first drain: when the provider's turn comes and with how much grace, for every
// outcome, for operators that are gone, just lost, old, slow or lying, and across reconnects and restarts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeDrainOutcome, ReclaimPhase } from '@bigfleet/wire';
import { Stage } from '../operators/testing/stage.ts';
import type { TestOperator } from '../session/testing/test-operator.ts';
import type { DrainRequest } from './instructions.ts';

const FALLBACK = 'reclaim fallback: no operator session; PDB-respecting drain skipped';

function drainOf(changes: Partial<DrainRequest> = {}): DrainRequest {
  return {
    kind: 'Reclaim',
    machineId: 'm1',
    cluster: 'blue',
    graceSeconds: 600,
    preemptorPriority: 0,
    reasonCode: 'phase3.excess',
    ...changes,
  };
}

interface Finish {
  readonly outcome: NodeDrainOutcome;
  readonly machineId?: string;
  readonly node?: string;
  readonly instructionId?: string;
  readonly error?: string;
}

function finish(operator: TestOperator, given: Finish): void {
  const last = operator.all('reclaimInstruction').at(-1);
  const { outcome, machineId = 'm1', node = 'm1', error = '' } = given;
  operator.send({
    case: 'reclaimAck',
    value: {
      instructionId: given.instructionId ?? last?.instructionId ?? '',
      nodesStarted: 1,
      phase: ReclaimPhase.FINISHED,
      results: [{ machineId, node, outcome, error }],
    },
  });
}

async function blueStage(seed: string): Promise<{ stage: Stage; operator: TestOperator }> {
  const stage = new Stage(seed);
  stage.machines.put('m1');
  const operator = await stage.connect('blue');
  return { stage, operator };
}

function outcome(stage: Stage, name: string): Promise<number> {
  return stage.metric('drain_operator_outcomes_total', `outcome="${name}"`);
}

test('the instruction names machine, grace, priority and reason', async () => {
  const { stage, operator } = await blueStage('instruction');
  const preempt = {
    kind: 'Preempt',
    preemptorPriority: 9,
    reasonCode: 'phase2.inversion',
  } as const;
  const start = stage.operators.drains.begin(drainOf({ ...preempt, graceSeconds: 30 }));
  assert.equal(start.kind, 'waiting');
  await stage.settle();
  const [instruction] = operator.all('reclaimInstruction');
  assert.match(instruction?.instructionId ?? '', /^[0-9a-f]{16}$/);
  assert.deepEqual(instruction?.nodes, ['m1']);
  assert.deepEqual(instruction?.machineIds, ['m1']);
  assert.equal(instruction?.gracePeriodSeconds, 30n);
  assert.equal(instruction?.preemptorPriority, 9);
  assert.equal(instruction?.reasonCode, 'phase2.inversion');
  assert.equal(await stage.metric('drain_waiting'), 1);
});

test('the provider is called when the operator is done, with the grace that is left', async () => {
  const rows = [
    [NodeDrainOutcome.EMPTY, 'empty', false],
    [NodeDrainOutcome.DEADLINE, 'deadline', false],
    [NodeDrainOutcome.FORBIDDEN, 'forbidden', true],
    [NodeDrainOutcome.NODE_NOT_FOUND, 'node_not_found', true],
  ] as const;
  for (const [reported, label, isWarned] of rows) {
    const { stage, operator } = await blueStage(label);
    stage.operators.drains.begin(drainOf());
    await stage.time.runFor(100_400);
    assert.equal(stage.fired.length, 0);
    finish(operator, { outcome: reported, error: 'evictions are forbidden' });
    await stage.settle();
    assert.equal(stage.fired.length, 1);
    assert.equal(stage.fired[0]?.graceSeconds, 499);
    assert.equal(stage.fired[0]?.outcome, label);
    assert.equal(await outcome(stage, label), 1);
    assert.equal(await stage.metric('drain_waiting'), 0);
    const warned = stage.logged('operator could not drain');
    assert.equal(warned.length, isWarned ? 1 : 0);
    if (isWarned) assert.match(warned[0] ?? '', /level=WARN.*evictions are forbidden/);
    await stage.time.runFor(700_000);
    assert.equal(stage.fired.length, 1, 'once');
  }
});

test('an outcome that we do not know does not stand for an empty node: the grace decides', async () => {
  const { stage, operator } = await blueStage('unknown');
  stage.operators.drains.begin(drainOf({ graceSeconds: 60 }));
  await stage.settle();
  finish(operator, { outcome: NodeDrainOutcome.UNSPECIFIED });
  finish(operator, { outcome: NodeDrainOutcome.EMPTY, machineId: 'another' });
  finish(operator, { outcome: NodeDrainOutcome.EMPTY, machineId: '', node: 'another' });
  await stage.settle();
  assert.equal(stage.fired.length, 0);
  finish(operator, { outcome: NodeDrainOutcome.EMPTY, machineId: '', node: 'm1' });
  await stage.settle();
  assert.equal(stage.fired[0]?.outcome, 'empty');
});

test('a grace that runs out calls the provider with none', async () => {
  const { stage, operator } = await blueStage('expired');
  stage.operators.drains.begin(drainOf({ graceSeconds: 10 }));
  await stage.time.runFor(9_800);
  assert.equal(stage.fired.length, 0);
  await stage.time.runFor(400);
  assert.deepEqual(
    stage.fired.map(({ graceSeconds, outcome: o }) => [graceSeconds, o]),
    [[0, 'grace_expired']],
  );
  assert.equal(await outcome(stage, 'grace_expired'), 1);
  // A minute later the id is still known, so the late ack is no offence; then it is.
  finish(operator, { outcome: NodeDrainOutcome.EMPTY });
  await stage.time.runFor(70_000);
  assert.equal(
    await stage.metric('session_frames_dropped_total', 'reason="foreign_reclaim_ack"'),
    0,
  );
  finish(operator, { outcome: NodeDrainOutcome.EMPTY });
  await stage.settle();
  assert.equal(
    await stage.metric('session_frames_dropped_total', 'reason="foreign_reclaim_ack"'),
    1,
  );
  assert.equal(stage.fired.length, 1);
});

test('an operator that does not report completion: instruction, and the provider at once', async () => {
  const stage = new Stage('old');
  stage.machines.put('m1');
  const operator = await stage.connect('blue', []);
  const start = stage.operators.drains.begin(drainOf({ graceSeconds: 120 }));
  assert.deepEqual(start, { kind: 'call_provider', graceSeconds: 120, because: 'not_negotiated' });
  await stage.settle();
  assert.equal(operator.all('reclaimInstruction').length, 1);
  assert.equal(stage.operators.drains.size, 0);
  assert.equal(await outcome(stage, 'not_negotiated'), 1);
  // The classic single ack is telemetry.
  const instructionId = operator.all('reclaimInstruction')[0]?.instructionId ?? '';
  operator.send({ case: 'reclaimAck', value: { instructionId, nodesStarted: 0 } });
  await stage.settle();
  assert.equal(stage.logged('reclaim started on fewer nodes').length, 1);
  assert.equal(
    await stage.metric('session_frames_dropped_total', 'reason="foreign_reclaim_ack"'),
    0,
  );
});

test('nobody connected: the provider at once, loudly, for both kinds', async () => {
  const stage = new Stage('nobody');
  for (const kind of ['Reclaim', 'Preempt'] as const) {
    const start = stage.operators.drains.begin(drainOf({ kind, machineId: kind }));
    assert.deepEqual(start, { kind: 'call_provider', graceSeconds: 600, because: 'no_session' });
    assert.equal(await stage.metric('reclaim_fallback_total', `kind="${kind}"`), 1);
  }
  const lines = stage.logged(FALLBACK);
  assert.match(lines[0] ?? '', /level=WARN.*machine=Reclaim cluster=blue/);
  assert.equal(lines.length, 2);
  assert.equal(await outcome(stage, 'no_session'), 2);
});

test('losing the session fires nothing; its successor gets the rest of the grace', async () => {
  const { stage, operator } = await blueStage('reconnect');
  stage.operators.drains.begin(drainOf());
  await stage.time.runFor(60_000);
  stage.network.apply({ kind: 'crash', host: 'blue' });
  await stage.time.runFor(60_000);
  assert.equal(stage.fired.length, 0);
  stage.network.apply({ kind: 'restart', host: 'blue' });
  const successor = await stage.connect('blue');
  const [again] = successor.all('reclaimInstruction');
  const id = operator.all('reclaimInstruction')[0]?.instructionId;
  assert.equal(again?.instructionId, id);
  assert.equal(again?.gracePeriodSeconds, 480n);
  const bystander = await stage.connect('green');
  assert.deepEqual(bystander.all('reclaimInstruction'), []);
  finish(successor, { outcome: NodeDrainOutcome.EMPTY });
  await stage.settle();
  assert.equal(stage.fired[0]?.graceSeconds, 479);
});

test('a mass drain ends no session: all of it is told, and told again after a reconnect', async () => {
  const { stage, operator } = await blueStage('mass-drain');
  const count = 3_000;
  for (let at = 0; at < count; at++) {
    stage.operators.drains.begin(drainOf({ machineId: `m${at}` }));
  }
  await stage.time.runFor(5_000);
  assert.equal(operator.all('reclaimInstruction').length, count);
  assert.equal(await outcome(stage, 'no_session'), 0);
  stage.network.apply({ kind: 'crash', host: 'blue' });
  await stage.time.runFor(60_000);
  stage.network.apply({ kind: 'restart', host: 'blue' });
  const successor = await stage.connect('blue');
  await stage.time.runFor(5_000);
  const told = successor.all('reclaimInstruction').map(({ machineIds }) => machineIds[0]);
  assert.equal(new Set(told).size, count);
  assert.equal(stage.operators.sessions.sessionOf('blue')?.isOpen, true);
});

test('a lost session without return: the grace runs out on our clock', async () => {
  const { stage } = await blueStage('no-return');
  stage.operators.drains.begin(drainOf({ graceSeconds: 120 }));
  await stage.time.runFor(1_000);
  stage.network.apply({ kind: 'crash', host: 'blue' });
  await stage.time.runFor(118_500);
  assert.equal(stage.fired.length, 0);
  await stage.time.runFor(1_000);
  assert.equal(stage.fired[0]?.outcome, 'grace_expired');
});

/** The operator of blue went away `agoMs` ago. */
async function lostStage(seed: string, agoMs = 1_000): Promise<Stage> {
  const { stage } = await blueStage(seed);
  stage.network.apply({ kind: 'crash', host: 'blue' });
  await stage.time.runFor(agoMs);
  return stage;
}

function comeBack(stage: Stage, extensions?: readonly string[]): Promise<TestOperator> {
  stage.network.apply({ kind: 'restart', host: 'blue' });
  return stage.connect('blue', extensions);
}

function firedOf(stage: Stage): [number, string][] {
  return stage.fired.map(({ graceSeconds, outcome: label }) => [graceSeconds, label]);
}

test('an operator that is away for a moment is told when it is back, and nobody passes it by', async () => {
  const stage = await lostStage('moment');
  const { drains } = stage.operators;
  assert.equal(drains.begin(drainOf()).kind, 'waiting');
  assert.equal(await stage.metric('drain_waiting'), 1);
  await stage.time.runFor(20_000);
  const operator = await comeBack(stage);
  assert.deepEqual(
    operator.all('reclaimInstruction').map(({ gracePeriodSeconds }) => gracePeriodSeconds),
    [580n],
  );
  await stage.time.runFor(120_000);
  assert.deepEqual([stage.fired, stage.logged(FALLBACK)], [[], []], 'an ordinary wait by now');
  finish(operator, { outcome: NodeDrainOutcome.EMPTY });
  await stage.time.runFor(700_000);
  assert.deepEqual(firedOf(stage), [[459, 'empty']]);
  assert.equal(operator.all('reclaimInstruction').length, 1);
  assert.equal(await outcome(stage, 'no_session'), 0);
});

test('an operator that is told after its return and lost again: the deadline fires, nothing else', async () => {
  const stage = await lostStage('lost-again');
  stage.operators.drains.begin(drainOf());
  await comeBack(stage);
  stage.network.apply({ kind: 'crash', host: 'blue' });
  await stage.time.runFor(590_000);
  assert.deepEqual(stage.fired, []);
  await stage.time.runFor(11_000);
  assert.deepEqual(firedOf(stage), [[0, 'grace_expired']]);
  assert.deepEqual(stage.logged(FALLBACK), []);
});

test('no return: the provider 60 s after the loss, or when half of the grace is over', async () => {
  const rows = [
    ['Reclaim', 600, 59_000, 540],
    ['Preempt', 120, 59_000, 60],
    ['Preempt', 30, 15_000, 14],
    ['Preempt', 10, 5_000, 4],
  ] as const;
  for (const [kind, graceSeconds, waitMs, leftSeconds] of rows) {
    const stage = await lostStage(`no-return-${graceSeconds}`);
    const { drains } = stage.operators;
    assert.equal(drains.begin(drainOf({ kind, graceSeconds })).kind, 'waiting');
    await stage.time.runFor(waitMs - 500);
    assert.deepEqual([stage.fired, stage.logged(FALLBACK)], [[], []]);
    assert.equal(await stage.metric('reclaim_fallback_total', `kind="${kind}"`), 0);
    await stage.time.runFor(1_000);
    assert.deepEqual(firedOf(stage), [[leftSeconds, 'no_session']]);
    assert.match(stage.logged(FALLBACK)[0] ?? '', /level=WARN.*machine=m1 cluster=blue/);
    assert.equal(await stage.metric('reclaim_fallback_total', `kind="${kind}"`), 1);
    assert.equal(await outcome(stage, 'no_session'), 1);
    const late = await comeBack(stage);
    await stage.time.runFor(700_000);
    assert.deepEqual(late.all('reclaimInstruction'), []);
    assert.deepEqual([stage.fired.length, stage.logged(FALLBACK).length, drains.size], [1, 1, 0]);
  }
});

test('an operator that is really away has no reconnect grace: the provider at once', async () => {
  const away = { kind: 'call_provider', graceSeconds: 600, because: 'no_session' };
  const longGone = await lostStage('long-gone', 61_000);
  assert.deepEqual(longGone.operators.drains.begin(drainOf()), away);
  const forgotten = await lostStage('forgotten');
  forgotten.operators.forget('blue');
  assert.deepEqual(forgotten.operators.drains.begin(drainOf()), away);
  const other = await lostStage('other');
  assert.deepEqual(other.operators.drains.begin(drainOf({ cluster: 'green' })), away);
  const old = await lostStage('old-one');
  await comeBack(old, []);
  old.network.apply({ kind: 'crash', host: 'blue' });
  await old.time.runFor(1_000);
  assert.deepEqual(old.operators.drains.begin(drainOf()), away, 'it would not report completion');
});

test('an operator that came back before the drain has it for the whole grace', async () => {
  const stage = await lostStage('back-before');
  const operator = await comeBack(stage);
  assert.equal(stage.operators.drains.begin(drainOf()).kind, 'waiting');
  await stage.time.runFor(120_000);
  assert.equal(operator.all('reclaimInstruction').length, 1);
  assert.deepEqual(stage.fired, []);
});

test('a second drain in the reconnect grace only shortens, and there is one of both', async () => {
  const stage = await lostStage('second-untold');
  const { drains } = stage.operators;
  drains.begin(drainOf());
  drains.begin(drainOf({ kind: 'Preempt', graceSeconds: 10 }));
  drains.begin(drainOf());
  assert.equal(drains.size, 1);
  await stage.time.runFor(6_000);
  assert.deepEqual(firedOf(stage), [[4, 'no_session']]);
  await stage.time.runFor(700_000);
  assert.deepEqual([stage.fired.length, stage.logged(FALLBACK).length], [1, 1]);
});

test('held in the reconnect grace: it stands still, and who came meanwhile is told', async () => {
  for (const isBack of [true, false]) {
    const stage = await lostStage(`held-untold-${isBack}`);
    const { drains } = stage.operators;
    drains.begin(drainOf());
    await stage.time.runFor(10_000);
    drains.hold();
    await stage.time.runFor(300_000);
    const operator = isBack ? await comeBack(stage) : undefined;
    await stage.time.runFor(300_000);
    assert.deepEqual([stage.fired, operator?.all('reclaimInstruction') ?? []], [[], []]);
    drains.resume();
    await stage.time.runFor(40_000);
    assert.deepEqual([stage.fired, stage.logged(FALLBACK)], [[], []]);
    assert.equal(operator?.all('reclaimInstruction').length, isBack ? 1 : undefined);
    await stage.time.runFor(20_000);
    assert.equal(stage.fired.length, isBack ? 0 : 1);
  }
});

test('a mass drain in the reconnect grace: all of it is told, however long the telling takes', async () => {
  const stage = await lostStage('mass-untold');
  const count = 3_000;
  for (let at = 0; at < count; at++) {
    stage.operators.drains.begin(drainOf({ machineId: `m${at}` }));
  }
  await stage.time.runFor(57_800);
  const operator = await comeBack(stage);
  await stage.time.runFor(5_000);
  assert.equal(operator.all('reclaimInstruction').length, count);
  assert.deepEqual(stage.fired, []);
});

test('a second drain of the machine only shortens, also with nobody connected', async () => {
  const { stage, operator } = await blueStage('second');
  const { drains } = stage.operators;
  drains.begin(drainOf({ graceSeconds: 600 }));
  await stage.settle();
  const preempt = drainOf({ kind: 'Preempt', graceSeconds: 30, preemptorPriority: 5 });
  assert.equal(drains.begin(preempt).kind, 'waiting');
  await stage.settle();
  assert.deepEqual(
    operator.all('reclaimInstruction').map(({ gracePeriodSeconds }) => gracePeriodSeconds),
    [600n, 30n],
  );
  const deadlineMs = drains.deadlineMsOf('m1');
  drains.begin(drainOf({ graceSeconds: 600 }));
  assert.equal(drains.deadlineMsOf('m1'), deadlineMs);
  stage.network.apply({ kind: 'crash', host: 'blue' });
  await stage.settle();
  assert.equal(drains.begin(drainOf({ graceSeconds: 10 })).kind, 'waiting');
  assert.equal(drains.size, 1);
  await stage.time.runFor(11_000);
  assert.deepEqual(
    stage.fired.map((fired) => fired.outcome),
    ['grace_expired'],
  );
});

test('the deadline of an earlier drain does not end a later one of the same machine', async () => {
  const { stage } = await blueStage('stale-timer');
  const { drains } = stage.operators;
  drains.begin(drainOf({ graceSeconds: 60 }));
  drains.begin(drainOf({ graceSeconds: 10 }));
  await stage.time.runFor(11_000);
  assert.equal(stage.fired.length, 1);
  drains.begin(drainOf({ graceSeconds: 30 }));
  drains.leave('m1');
  drains.begin(drainOf({ graceSeconds: 600 }));
  await stage.time.runFor(120_000);
  assert.equal(stage.fired.length, 1);
  assert.ok(drains.isWaiting('m1'));
});

test('an instruction has a second at least: zero would be the default of the operator', async () => {
  const { stage, operator } = await blueStage('no-grace');
  stage.operators.drains.begin(drainOf({ graceSeconds: 0 }));
  await stage.settle();
  assert.equal(operator.all('reclaimInstruction')[0]?.gracePeriodSeconds, 1n);
});

test('an ack counts for the cluster that was instructed only', async () => {
  const { stage, operator } = await blueStage('forged');
  const green = await stage.connect('green');
  stage.operators.drains.begin(drainOf());
  await stage.settle();
  const instructionId = operator.all('reclaimInstruction')[0]?.instructionId ?? '';
  finish(green, { outcome: NodeDrainOutcome.EMPTY, instructionId });
  await stage.settle();
  assert.equal(stage.fired.length, 0);
  assert.equal(
    await stage.metric('session_frames_dropped_total', 'reason="foreign_reclaim_ack"'),
    1,
  );
});

test('a machine that reconcile saw elsewhere leaves the table and fires no more', async () => {
  const { stage, operator } = await blueStage('leave');
  stage.operators.drains.begin(drainOf({ graceSeconds: 30 }));
  await stage.settle();
  stage.operators.drains.leave('m1');
  assert.equal(stage.operators.drains.isWaiting('m1'), false);
  finish(operator, { outcome: NodeDrainOutcome.EMPTY });
  await stage.time.runFor(60_000);
  assert.equal(stage.fired.length, 0);
  assert.equal(await stage.metric('drain_waiting'), 0);
});

test('a restart forgets the table; deriving the drain again reaches the operator again', async () => {
  const before = await blueStage('before');
  before.stage.operators.drains.begin(drainOf());
  await before.stage.settle();
  const after = await blueStage('after');
  assert.equal(after.stage.operators.drains.size, 0);
  assert.deepEqual(after.operator.all('reclaimInstruction'), []);
  after.stage.operators.drains.begin(drainOf());
  await after.stage.settle();
  assert.equal(after.operator.all('reclaimInstruction').length, 1);
  finish(after.operator, {
    outcome: NodeDrainOutcome.EMPTY,
    instructionId: before.operator.all('reclaimInstruction')[0]?.instructionId ?? '',
  });
  await after.stage.settle();
  assert.deepEqual(after.stage.fired, [], 'an id from before the restart was not issued by us');
});

test('held: no grace runs, nobody is told, and the rest of the grace is there after the resume', async () => {
  const { stage, operator } = await blueStage('held');
  const { drains } = stage.operators;
  drains.begin(drainOf({ graceSeconds: 120 }));
  await stage.time.runFor(20_000);
  drains.hold();
  stage.network.apply({ kind: 'crash', host: 'blue' });
  await stage.time.runFor(600_000);
  stage.network.apply({ kind: 'restart', host: 'blue' });
  const successor = await stage.connect('blue');
  await stage.time.runFor(600_000);
  assert.deepEqual([stage.fired, successor.all('reclaimInstruction')], [[], []]);
  assert.equal(await stage.metric('drain_waiting'), 1);
  drains.resume();
  await stage.settle();
  const [again] = successor.all('reclaimInstruction');
  assert.equal(again?.instructionId, operator.all('reclaimInstruction')[0]?.instructionId);
  assert.equal(again?.gracePeriodSeconds, 100n);
  await stage.time.runFor(99_000);
  assert.equal(stage.fired.length, 0);
  await stage.time.runFor(2_000);
  assert.equal(stage.fired[0]?.outcome, 'grace_expired');
});

test('held: what an operator reports is taken, with the grace that was left at the hold', async () => {
  const { stage, operator } = await blueStage('held-ack');
  const { drains } = stage.operators;
  drains.begin(drainOf({ graceSeconds: 120 }));
  await stage.time.runFor(20_000);
  drains.hold();
  await stage.time.runFor(60_000);
  finish(operator, { outcome: NodeDrainOutcome.EMPTY });
  await stage.settle();
  assert.deepEqual(
    stage.fired.map(({ graceSeconds, outcome: o }) => [graceSeconds, o]),
    [[100, 'empty']],
  );
  drains.resume();
  await stage.time.runFor(700_000);
  assert.equal(stage.fired.length, 1);
  assert.equal(operator.all('reclaimInstruction').length, 1, 'who has heard is not told twice');
});

test('abandoned: nothing fires, a reconnect is told nothing, a late ack is no offence', async () => {
  const { stage, operator } = await blueStage('abandoned');
  const { drains } = stage.operators;
  drains.begin(drainOf({ graceSeconds: 30 }));
  await stage.settle();
  drains.hold();
  drains.abandon();
  finish(operator, { outcome: NodeDrainOutcome.EMPTY });
  await stage.time.runFor(40_000);
  stage.network.apply({ kind: 'crash', host: 'blue' });
  await stage.settle();
  stage.network.apply({ kind: 'restart', host: 'blue' });
  const successor = await stage.connect('blue');
  assert.deepEqual([stage.fired, successor.all('reclaimInstruction')], [[], []]);
  assert.equal(await stage.metric('drain_waiting'), 0);
  assert.equal(
    await stage.metric('session_frames_dropped_total', 'reason="foreign_reclaim_ack"'),
    0,
  );
});

test('held in the middle of a mass drain: the rest is told after the resume, each once', async () => {
  const { stage, operator } = await blueStage('mass-hold');
  const { drains } = stage.operators;
  const count = 1_000;
  for (let at = 0; at < count; at++) drains.begin(drainOf({ machineId: `m${at}` }));
  drains.hold();
  await stage.time.runFor(10_000);
  assert.equal(operator.all('reclaimInstruction').length, 200);
  drains.resume();
  await stage.time.runFor(1_000);
  const told = operator.all('reclaimInstruction').map(({ machineIds }) => machineIds[0]);
  assert.deepEqual([told.length, new Set(told).size], [count, count]);
  const last = operator.all('reclaimInstruction').at(-1);
  assert.ok((last?.gracePeriodSeconds ?? 0n) >= 599n, 'no grace ran while it was held');
});
