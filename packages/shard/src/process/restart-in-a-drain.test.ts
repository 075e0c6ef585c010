// Proves what a restart in the middle of an operator-first drain does (shard §4.5, §16): the drain is
// not remembered, is derived again only once the cluster has spoken, reaches the operator again under
// a new id, and one that the provider already began is followed to its end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { State } from '@bigfleet/engine';
import { MachineState, NodeDrainOutcome, ReclaimPhase } from '@bigfleet/wire';
import { fourCores } from '../core/testing/stage.ts';
import type { TestOperator } from '../session/testing/test-operator.ts';
import { demandOf, noDemand, ShardStage } from './testing/shard-stage.ts';

function instructionIds(operator: TestOperator): readonly string[] {
  return operator.all('reclaimInstruction').map(({ instructionId }) => instructionId);
}

function finished(operator: TestOperator, instructionId: string): void {
  const results = [{ machineId: 'host', nodeName: 'host', outcome: NodeDrainOutcome.EMPTY }];
  const value = { instructionId, phase: ReclaimPhase.FINISHED, results };
  operator.send({ case: 'reclaimAck', value });
}

/** A shard that waits for blue's operator to empty its only machine. */
async function draining(
  latencyMs = 500,
): Promise<{ stage: ShardStage; operator: TestOperator; id: string }> {
  const stage = new ShardStage({ latencyMs });
  stage.fake.addIdle(fourCores('host'));
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await stage.serve(operator, latencyMs + 15_000);
  operator.send({ case: 'rollup', value: noDemand('blue') });
  await stage.time.runFor(2_000);
  assert.equal(stage.stateOf('host'), State.Draining);
  const [id = ''] = instructionIds(operator);
  assert.notEqual(id, '');
  return { stage, operator, id };
}

test('while the operator works: nothing on silence, then the same drain anew', async () => {
  const { stage, id } = await draining();
  await stage.stop();
  assert.equal(stage.fake.get('host').state, State.Configured, 'the provider was never asked');
  const next = await new ShardStage({ before: stage, epoch: 2n }).start();
  await next.time.runFor(60_000);
  assert.equal(next.stateOf('host'), State.Configured);
  const operator = await next.connect('blue');
  // The old instruction's end says nothing about what was not asked for.
  finished(operator, id);
  await next.time.runFor(20_000);
  assert.deepEqual(instructionIds(operator), [], 'before its first roll-up nothing is reclaimed');
  assert.equal(next.fake.get('host').state, State.Configured);
  operator.send({ case: 'rollup', value: noDemand('blue') });
  await next.time.runFor(2_000);
  const [again = ''] = instructionIds(operator);
  assert.ok(again !== '' && again !== id, 'asked again, by its own name');
  assert.equal(next.fake.get('host').state, State.Configured, 'operator first, again');
  finished(operator, again);
  await next.time.runFor(20_000);
  assert.equal(next.stateOf('host'), State.Idle);
  assert.deepEqual(next.audited, ['Reclaim host success']);
  await next.stop();
});

test('while the operator works, and the demand is back after the restart: kept', async () => {
  const { stage } = await draining();
  await stage.stop();
  const next = await new ShardStage({ before: stage, epoch: 2n }).start();
  const operator = await next.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await next.time.runFor(60_000);
  assert.deepEqual(instructionIds(operator), []);
  assert.equal(next.stateOf('host'), State.Configured);
  assert.deepEqual(next.audited, []);
  await next.stop();
});

test('while the provider drains: followed to its end, and told to the owner', async () => {
  const { stage, operator, id } = await draining(120_000);
  finished(operator, id);
  await stage.time.runFor(1_000);
  assert.equal(stage.fake.get('host').state, State.Draining);
  await stage.stop();
  const next = await new ShardStage({ before: stage, epoch: 2n }).start();
  const successor = await next.connect('blue');
  await next.time.runFor(15_000);
  assert.equal(next.stateOf('host'), State.Draining);
  await next.time.runFor(120_000);
  assert.equal(next.stateOf('host'), State.Idle);
  const last = successor.all('nodeStateUpdate').at(-1);
  assert.deepEqual([last?.state, last?.clusterId], [MachineState.IDLE, 'blue']);
  assert.deepEqual(next.audited, [], 'nothing was called a second time');
  await next.stop();
});
