// Proves the kill switch on a whole shard: an administrator's pause stops a drain that an operator
// has and a bootstrap that an operator renders, neither provider nor operator hears anything more,
// and a resume lets both go on. And that dry run alone only counts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { State } from '@bigfleet/engine';
import { NodeDrainOutcome, ReclaimPhase } from '@bigfleet/wire';
import { fourCores } from '../core/testing/stage.ts';
import type { TestOperator } from '../session/testing/test-operator.ts';
import { LIBRARY_SETTINGS } from './shard-options.ts';
import { demandOf, noDemand, ShardStage } from './testing/shard-stage.ts';

async function setActuation(stage: ShardStage, paused: boolean): Promise<void> {
  const done = stage.admin().setActuation({ paused, reason: 'drill' });
  await stage.settle();
  await done;
}

/** A shard with one node that serves `blue`, and its drain with the operator. */
async function draining(): Promise<{ stage: ShardStage; operator: TestOperator }> {
  const stage = new ShardStage();
  stage.fake.addIdle(fourCores('host'));
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await stage.serve(operator, 15_000);
  operator.send({ case: 'rollup', value: noDemand('blue') });
  await stage.time.runFor(2_000);
  assert.equal(operator.all('reclaimInstruction').length, 1);
  return { stage, operator };
}

function finished(operator: TestOperator): void {
  const [instruction] = operator.all('reclaimInstruction');
  assert.ok(instruction !== undefined);
  const { instructionId } = instruction;
  const results = [{ machineId: 'host', outcome: NodeDrainOutcome.EMPTY }];
  const value = { instructionId, phase: ReclaimPhase.FINISHED, results };
  operator.send({ case: 'reclaimAck', value });
}

test('a pause stops a drain whose operator is done, until the resume', async () => {
  const { stage, operator } = await draining();
  await setActuation(stage, true);
  finished(operator);
  await stage.time.runFor(1_200_000);
  assert.equal(stage.fake.get('host').state, State.Configured, 'the provider was not asked');
  assert.equal(stage.stateOf('host'), State.Draining);
  await setActuation(stage, false);
  await stage.time.runFor(20_000);
  assert.equal(stage.fake.get('host').state, State.Idle);
  assert.equal(stage.stateOf('host'), State.Idle);
  assert.deepEqual(
    stage.audited.filter((line) => line.startsWith('Reclaim')),
    ['Reclaim host success'],
  );
  await stage.stop();
});

test('a pause stops the clock of a drain, and a reconnect is told nothing', async () => {
  const { stage, operator } = await draining();
  await setActuation(stage, true);
  operator.leave();
  await stage.settle();
  const successor = await stage.connect('blue');
  await stage.time.runFor(1_200_000);
  assert.deepEqual(successor.all('reclaimInstruction'), []);
  assert.equal(stage.fake.get('host').state, State.Configured);
  await setActuation(stage, false);
  await stage.settle();
  const [again] = successor.all('reclaimInstruction');
  assert.ok(again !== undefined && again.gracePeriodSeconds > 590n, 'the grace of before');
  await stage.time.runFor(700_000);
  assert.equal(stage.fake.get('host').state, State.Idle, 'and then it runs out');
  await stage.stop();
});

test('a pause while an operator renders: its answer configures nothing, a reconnect is not asked', async () => {
  const stage = new ShardStage();
  stage.fake.addIdle(fourCores('host'));
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await stage.time.runFor(1_000);
  const [request] = operator.all('bootstrapRequest');
  assert.ok(request !== undefined);
  await setActuation(stage, true);
  const { requestId } = request;
  const value = { requestId, userData: Uint8Array.of(7), ttlSeconds: 600n };
  operator.send({ case: 'bootstrapResponse', value }).leave();
  await stage.settle();
  const successor = await stage.connect('blue');
  await stage.time.runFor(60_000);
  assert.deepEqual(successor.all('bootstrapRequest'), []);
  assert.equal(stage.fake.get('host').state, State.Idle);
  assert.equal(stage.stateOf('host'), State.Idle);
  assert.ok((await stage.metric('actions_suppressed_total', 'kind="Bootstrap"')) > 0);
  await setActuation(stage, false);
  await stage.serve(successor, 15_000);
  assert.equal(stage.stateOf('host'), State.Configured);
  await stage.stop();
});

test('a machine that never materialises is no success: not in the series, not in the audit', async () => {
  const stage = new ShardStage({ latencyMs: 3_600_000 });
  stage.fake.addIdle(fourCores('host'));
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await stage.serve(operator, 15_000);
  assert.equal(stage.stateOf('host'), State.Configuring);
  const outcome = (name: string): Promise<number> =>
    stage.metric('action_execute_outcomes_total', `kind="Bootstrap",outcome="${name}"`);
  assert.deepEqual([await outcome('success'), stage.audited], [0, []]);
  stage.fake.failMachine('host', 'node never became ready');
  await stage.time.runFor(11_000);
  assert.deepEqual([await outcome('success'), await outcome('provider_error')], [0, 1]);
  assert.deepEqual(stage.audited, ['Bootstrap host provider_error']);
  assert.match(stage.logged('action failed')[0] ?? '', /node never became ready/);
  await stage.stop();
});

test('dry run alone: the intentions are counted in their own series, and nothing happens', async () => {
  const rails = { ...LIBRARY_SETTINGS.rails, dryRun: true, maxActionsPerCycle: 1 };
  const stage = new ShardStage({ settings: { rails } });
  for (const id of ['a', 'b']) stage.fake.addIdle(fourCores(id));
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 8) });
  await stage.serve(operator, 60_000);
  const { cycleCount } = stage.shard.parts.core;
  assert.ok(cycleCount <= 9, `${cycleCount} cycles: what is not done asks for no cycle`);
  const dry = await stage.metric('actions_dryrun_total', 'kind="Bootstrap"');
  assert.ok(dry >= 10 && dry <= 2 * cycleCount, `${dry} in ${cycleCount} cycles`);
  assert.equal(stage.audited.length, dry);
  assert.ok(stage.audited.every((line) => line.endsWith(' dryrun')));
  for (const name of ['actions_total', 'actions_suppressed_total']) {
    assert.equal(await stage.metric(name, 'kind="Bootstrap"'), 0, name);
  }
  assert.deepEqual(operator.all('bootstrapRequest'), []);
  for (const id of ['a', 'b']) assert.equal(stage.fake.get(id).state, State.Idle);
  await stage.stop();
});
