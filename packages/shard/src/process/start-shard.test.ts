// Proves the wiring of a whole shard under virtual time: a roll-up over a session becomes a node and
// its withdrawal a drain, operators are told every step, and metrics, logs, records and the audit
// log agree on what happened.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { State } from '@bigfleet/engine';
import { Confidence, MachineState, NodeDrainOutcome, ReclaimPhase } from '@bigfleet/wire';
import { fourCores } from '../core/testing/stage.ts';
import { failureOf, ProviderError } from '../provider/provider-error.ts';
import type { TestOperator } from '../session/testing/test-operator.ts';
import { demandOf, noDemand, ShardStage, type ShardStageOptions } from './testing/shard-stage.ts';

async function started(options: ShardStageOptions = {}): Promise<ShardStage> {
  return new ShardStage(options).start();
}

/** A shard with one node that serves `blue`. */
async function withNode(options: ShardStageOptions = {}): Promise<{
  stage: ShardStage;
  operator: TestOperator;
}> {
  const stage = new ShardStage(options);
  stage.fake.addIdle(fourCores('host'));
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await stage.serve(operator, 15_000);
  assert.equal(stage.stateOf('host'), State.Configured);
  return { stage, operator };
}

function statesTold(operator: TestOperator): MachineState[] {
  return operator.all('nodeStateUpdate').map(({ state }) => state);
}

test('a roll-up becomes a node, and everything that counts says so', async () => {
  const { stage, operator } = await withNode();
  assert.ok(operator.echoes.includes('rollup'));
  assert.deepEqual(statesTold(operator), [MachineState.CONFIGURING, MachineState.CONFIGURED]);
  assert.equal(await stage.metric('actions_total', 'kind="Bootstrap"'), 1);
  const success = 'kind="Bootstrap",outcome="success"';
  assert.equal(await stage.metric('action_execute_outcomes_total', success), 1);
  assert.equal(await stage.metric('configure_phase_seconds_count'), 1);
  assert.equal(await stage.metric('provisioning_latency_seconds_count'), 1);
  assert.equal(await stage.metric('demand_machines', 'interruption_penalty_bucket="0"'), 1);
  const configured = 'state="Configured",capacity_type="OnDemand",interruption_penalty_bucket="0"';
  assert.equal(await stage.metric('inventory_machines', configured), 1);
  assert.equal(await stage.metric('shortfalls'), 0);
  assert.deepEqual(stage.audited, ['Bootstrap host success']);
  assert.equal(await stage.metric('epoch'), 1);
  await stage.stop();
  const segments = await stage.records.list();
  assert.ok(segments.some(({ kind, bytes }) => kind === 'records' && bytes > 0));
});

test('nobody gets in before the engine answers', async () => {
  const loaded = Promise.withResolvers<void>();
  const stage = new ShardStage({ host: (engine) => ({ ...engine, ready: () => loaded.promise }) });
  const starting = stage.start();
  await drainMicrotasks();
  assert.deepEqual(stage.logged('msg=listening'), []);
  loaded.resolve();
  await starting;
  assert.equal(stage.logged('msg=listening').length, 1);
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await stage.settle();
  assert.ok(operator.echoes.includes('rollup'));
  await stage.stop();
});

test('until its provider was listed, a shard says of no machine that it is gone', async () => {
  const { stage: before } = await withNode();
  await before.stop();
  const stage = new ShardStage({ before, epoch: 2n });
  stage.isListFailing = true;
  await stage.start();
  const operator = await stage.connect('blue');
  await stage.time.runFor(120_000);
  assert.deepEqual([operator.echoes, statesTold(operator)], [['hello'], []]);
  stage.isListFailing = false;
  await stage.time.runFor(60_000);
  assert.deepEqual(operator.echoes, ['hello', 'resync']);
  assert.deepEqual(statesTold(operator), [MachineState.CONFIGURED]);
  await stage.stop();
});

test('a shard whose engine cannot start does not listen', async () => {
  const ready = (): Promise<void> => Promise.reject(new BigFleetError('engine_lost', 'no thread'));
  const stage = new ShardStage({ host: (engine) => ({ ...engine, ready }) });
  await assert.rejects(stage.start(), /no thread/);
  assert.deepEqual(stage.logged('msg=listening'), []);
});

test('withdrawn demand: operator first, then the provider, one outcome for one drain', async () => {
  const { stage, operator } = await withNode();
  operator.send({ case: 'rollup', value: noDemand('blue') });
  await stage.time.runFor(2_000);
  assert.equal(stage.stateOf('host'), State.Draining);
  assert.equal(stage.fake.get('host').state, State.Configured, 'the provider was not asked yet');
  assert.equal(await stage.metric('drain_waiting'), 1);
  const [instruction] = operator.all('reclaimInstruction');
  assert.ok(instruction !== undefined);
  const results = [
    { machineId: 'host', nodeName: 'host', outcome: NodeDrainOutcome.EMPTY, podsRemaining: 0 },
  ];
  operator.send({
    case: 'reclaimAck',
    value: { instructionId: instruction.instructionId, phase: ReclaimPhase.FINISHED, results },
  });
  await stage.time.runFor(20_000);
  assert.equal(stage.stateOf('host'), State.Idle);
  assert.deepEqual(statesTold(operator).slice(-2), [MachineState.DRAINING, MachineState.IDLE]);
  const success = 'kind="Reclaim",outcome="success"';
  assert.equal(await stage.metric('action_execute_outcomes_total', success), 1);
  assert.equal(await stage.metric('drain_operator_outcomes_total', 'outcome="empty"'), 1);
  assert.equal(await stage.metric('drain_phase_seconds_count'), 1);
  assert.deepEqual(stage.audited.slice(1), ['Reclaim host success']);
  await stage.stop();
});

test('an operator that just left is waited for before a drain goes past it to the provider', async () => {
  const { stage, operator } = await withNode();
  operator.send({ case: 'rollup', value: noDemand('blue') }).leave();
  await stage.time.runFor(50_000);
  assert.equal(stage.stateOf('host'), State.Draining);
  assert.equal(stage.fake.get('host').state, State.Configured, 'the provider was not asked yet');
  assert.deepEqual(stage.logged('reclaim fallback'), []);
  assert.equal(await stage.metric('drain_waiting'), 1);
  await stage.time.runFor(40_000);
  assert.equal(stage.stateOf('host'), State.Idle);
  assert.equal(stage.logged('reclaim fallback').length, 1);
  assert.equal(await stage.metric('drain_phase_seconds_count'), 1);
  assert.deepEqual(stage.audited.slice(1), ['Reclaim host success']);
  await stage.stop();
});

test('a profile is hinted, and the catch-all follows the first applied roll-up', async () => {
  const stage = new ShardStage();
  for (const id of ['a', 'b', 'c']) stage.fake.addIdle(fourCores(id));
  await stage.start();
  const operator = await stage.connect('blue');
  await stage.time.runFor(11_000);
  assert.deepEqual(operator.all('availableCapacity'), [], 'nothing before a roll-up');
  operator.send({ case: 'rollup', value: noDemand('blue') });
  await stage.time.runFor(1_000);
  const hints = operator.all('availableCapacity');
  assert.deepEqual(
    hints.map(({ supersedesKey, availableCount, confidence }) => [
      supersedesKey,
      availableCount,
      confidence,
    ]),
    [['available:any', 3, Confidence.HIGH]],
  );
  await stage.stop();
});

test('a shortfall is one line per cycle, escalated once, and gone when it is met', async () => {
  const stage = await started();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4, 2_000_000) });
  await stage.time.runFor(75_000);
  const cycles = await stage.metric('cycles_total');
  const lines = stage.logged('shortfalls detected');
  assert.ok(lines.length >= cycles - 2 && lines.length <= cycles, `${lines.length} of ${cycles}`);
  assert.match(lines[0] ?? '', /level=WARN .*count=1 top_fingerprints=.*pool/);
  assert.equal(stage.logged('shortfall escalated').length, 1);
  assert.equal(await stage.metric('shortfalls'), 1);
  assert.equal(await stage.metric('shortfalls_by_priority', 'priority_class="critical"'), 1);
  assert.equal(await stage.metric('shortfalls_by_priority', 'priority_class="other"'), 0);
  assert.equal(await stage.metric('shortfalls_escalated'), 1);
  stage.fake.addIdle(fourCores('late'));
  await stage.serve(operator, 25_000);
  assert.equal(await stage.metric('shortfalls'), 0);
  assert.equal(await stage.metric('shortfalls_escalated'), 0);
  await stage.stop();
});

test('no provider: ready at once, sessions and demand accepted, a warning every minute', async () => {
  const stage = await started({ hasProvider: false });
  assert.deepEqual(stage.shard.readiness.state(), { ready: true });
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await stage.time.runFor(121_000);
  assert.ok(operator.echoes.includes('rollup'));
  assert.equal(stage.logged('no provider configured').length, 3);
  assert.equal(await stage.metric('shortfalls'), 1);
  assert.equal(await stage.metric('providers'), 0);
  await stage.stop();
});

test('ready after the first reconcile, not ready while shutting down', async () => {
  const stage = new ShardStage();
  stage.isListFailing = true;
  await stage.start();
  await stage.time.runFor(5_000);
  assert.equal(stage.logged('reconcile failed').length, 1, 'while its first List is waited for');
  await stage.time.runFor(95_000);
  assert.deepEqual(stage.shard.readiness.state(), {
    ready: false,
    reason: 'first provider reconcile not yet complete',
  });
  assert.ok(stage.logged('reconcile failed').length > 5);
  const failed = 'provider="alpha",mode="full",outcome="error"';
  assert.ok((await stage.metric('reconcile_total', failed)) > 5);
  stage.isListFailing = false;
  await stage.time.runFor(10_000);
  assert.deepEqual(stage.shard.readiness.state(), { ready: true });
  stage.isListFailing = true;
  await stage.time.runFor(100_000);
  assert.deepEqual(stage.shard.readiness.state(), { ready: true }, 'latched');
  const stopped = stage.shard.stop();
  assert.deepEqual(stage.shard.readiness.state(), { ready: false, reason: 'shutting down' });
  await stage.time.runFor(30_000);
  await stopped;
});

test('a stop ends open sessions in good order and within its bound', async () => {
  const stage = new ShardStage();
  stage.fake.addIdle(fourCores('host'));
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await stage.time.runFor(1_000);
  assert.equal(operator.all('bootstrapRequest').length, 1, 'an execution waits for the operator');
  let isStopped = false;
  const stopped = stage.shard.stop().then(() => {
    isStopped = true;
  });
  await stage.time.runFor(9_000);
  assert.equal(isStopped, false, 'what runs may finish');
  await stage.time.runFor(5_000);
  assert.equal(isStopped, true);
  await stopped;
  assert.equal(operator.ending, 'OK');
  assert.equal(stage.logged('shard stopped').length, 1);
});

test('a fenced process stays quiet, says so, and cannot be resumed', async () => {
  const stage = new ShardStage();
  for (const id of ['a', 'b']) stage.fake.addIdle(fourCores(id));
  const status = 'FAILED_PRECONDITION';
  stage.fake.failNext(
    'a',
    'configure',
    new ProviderError({ failure: failureOf(status), status, message: 'newer token' }),
  );
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await stage.serve(operator, 12_000);
  assert.equal(await stage.metric('fenced'), 1);
  assert.equal(await stage.metric('actuation_paused'), 1);
  assert.equal(stage.logged('zombie-shard incident').length, 1);
  assert.equal(stage.logged('--epoch-floor').length, 1, 'epoch 1 may be a lost directory');
  assert.ok(stage.logged('actuation paused').length > 0);
  assert.ok((await stage.metric('actions_suppressed_total', 'kind="Bootstrap"')) > 0);
  const answer = await call(stage, stage.admin().setActuation({ paused: false, reason: 'try' }));
  assert.equal(answer.paused, true, 'only a restart ends it');
  await stage.stop();
});

test('a pause at run time holds across a restart, and a resume lets go', async () => {
  const stage = new ShardStage();
  stage.fake.addIdle(fourCores('host'));
  await stage.start();
  await call(stage, stage.admin().setActuation({ paused: true, reason: 'incident 7' }));
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await stage.serve(operator, 12_000);
  assert.equal(stage.stateOf('host'), State.Idle);
  assert.ok(stage.audited.includes('Bootstrap host suppressed'));
  await stage.stop();

  const next = await new ShardStage({ before: stage, epoch: 2n }).start();
  assert.equal(next.logged('actuation settings restored from rails.json').length, 1);
  const back = await next.connect('blue');
  back.send({ case: 'rollup', value: demandOf('blue', 4) });
  await next.serve(back, 12_000);
  assert.equal(next.stateOf('host'), State.Idle);
  await call(next, next.admin().setActuation({ paused: false, reason: 'over' }));
  await next.serve(back, 25_000);
  assert.equal(next.stateOf('host'), State.Configured);
  await next.stop();
});

test('a restarted shard keeps what it finds until the first roll-up, and then serves it', async () => {
  const { stage } = await withNode();
  await stage.stop();
  const next = await new ShardStage({ before: stage, epoch: 2n }).start();
  await next.time.runFor(60_000);
  assert.equal(next.stateOf('host'), State.Configured, 'no reclaim on silence');
  const operator = await next.connect('blue');
  await next.settle();
  assert.deepEqual(statesTold(operator), [MachineState.CONFIGURED], 'resynchronised');
  assert.ok(operator.echoes.includes('resync'));
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await next.time.runFor(30_000);
  assert.equal(next.audited.length, 0, 'nothing to do');
  await next.stop();
});

test('forgetting a cluster ends its demand; a live session needs force', async () => {
  const { stage, operator } = await withNode();
  const refused = assert.rejects(
    stage.admin().forgetCluster({ clusterId: 'blue', reason: 'gone' }),
    /live operator session/,
  );
  await call(stage, refused);
  operator.leave();
  await stage.settle();
  const done = await call(
    stage,
    stage.admin().forgetCluster({ clusterId: 'blue', reason: 'gone' }),
  );
  assert.ok(typeof done === 'object');
  assert.deepEqual([done.needRowsDropped, done.machinesBound], [1, 1]);
  await stage.time.runFor(30_000);
  assert.equal(stage.stateOf('host'), State.Idle);
  await stage.stop();
});

test('a host that vanishes is told to its owner as failed, and counted when it jumps', async () => {
  const { stage, operator } = await withNode();
  stage.fake.failMachine('host', 'host lost: gone');
  await stage.time.runFor(11_000);
  assert.equal(statesTold(operator).at(-1), MachineState.FAILED);
  const jump = 'from="Configured",to="Failed"';
  assert.equal(await stage.metric('out_of_band_transitions_total', jump), 1);
  assert.equal(stage.logged('out of band').length, 1);
  await stage.stop();
});

test('a machine that its provider lists no more is told to its owner as failed', async () => {
  const { stage, operator } = await withNode();
  stage.fake.removeMachine('host');
  await stage.time.runFor(45_000);
  assert.equal(stage.stateOf('host'), undefined);
  const last = operator.all('nodeStateUpdate').at(-1);
  assert.deepEqual([last?.state, last?.clusterId], [MachineState.FAILED, 'blue']);
  await stage.stop();
});

test('an operator that refuses a bootstrap is left alone, and the demand is a shortfall', async () => {
  const stage = new ShardStage();
  stage.fake.addIdle(fourCores('host'));
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await stage.time.runFor(1_000);
  const [request] = operator.all('bootstrapRequest');
  const value = { requestId: request?.requestId ?? '', error: 'no template' };
  operator.send({ case: 'bootstrapResponse', value });
  await stage.time.runFor(25_000);
  assert.equal(operator.all('bootstrapRequest').length, 1, 'held off');
  assert.equal(await stage.metric('shortfalls'), 1);
  assert.equal(stage.stateOf('host'), State.Idle);
  const refused = 'kind="Bootstrap",outcome="blob_error"';
  assert.equal(await stage.metric('action_execute_outcomes_total', refused), 1);
  assert.equal(stage.logged('action failed').length, 1);
  await stage.time.runFor(40_000);
  assert.ok(operator.all('bootstrapRequest').length > 1, 'asked again later');
  await stage.stop();
});

test('attribution, when asked for: open demand and what is given back, every 20th cycle', async () => {
  const { stage, operator } = await withNode({ settings: { hasPhaseAttribution: true } });
  assert.equal(stage.logged('phase attribution').length, 0);
  operator.send({ case: 'rollup', value: demandOf('blue', 40, 2_000) });
  await stage.serve(operator, 250_000);
  const lines = stage.logged('msg="phase attribution"');
  assert.ok(lines.length > 0);
  assert.match(lines[0] ?? '', /needs_total=1 needs_same=0 p1_unsatisfied=1 .*p3_reclaim=0/);
  await stage.stop();
});

/** An answer to a call, while time passes. */
async function call<T>(stage: ShardStage, answer: Promise<T>): Promise<T> {
  await stage.settle();
  return answer;
}
