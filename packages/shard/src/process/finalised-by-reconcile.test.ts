// Proves that with a provider that works in the background (shard §7, §9.2) the end of every transition
// comes in by reconcile and is told and timed there: Create, Configure, Drain and Delete; and that
// a bootstrap that nobody answers leaves an Idle machine without a trace of the cluster.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noAssignment, State } from '@bigfleet/engine';
import { MachineState, NodeDrainOutcome, ReclaimPhase } from '@bigfleet/wire';
import { fourCores } from '../core/testing/stage.ts';
import type { TestOperator } from '../session/testing/test-operator.ts';
import { demandOf, noDemand, ShardStage } from './testing/shard-stage.ts';

/** How long an on-demand machine is held Idle before it is given back. */
const HOLD_MS = 600_000;

function drained(operator: TestOperator, machineId: string): void {
  const instruction = operator.all('reclaimInstruction').at(-1);
  assert.ok(instruction !== undefined, 'nobody asked for a drain');
  const results = [{ machineId, nodeName: machineId, outcome: NodeDrainOutcome.EMPTY }];
  operator.send({
    case: 'reclaimAck',
    value: { instructionId: instruction.instructionId, phase: ReclaimPhase.FINISHED, results },
  });
}

test('a whole life, every end of it seen by a List', async () => {
  const stage = new ShardStage();
  stage.fake.addSpeculative(fourCores('slot'));
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await stage.serve(operator, 45_000);
  assert.equal(stage.stateOf('slot'), State.Configured);
  operator.send({ case: 'rollup', value: noDemand('blue') });
  await stage.time.runFor(2_000);
  drained(operator, 'slot');
  await stage.time.runFor(100);
  assert.equal(stage.stateOf('slot'), State.Draining, 'accepted is not done');
  await stage.time.runFor(20_000);
  assert.equal(stage.stateOf('slot'), State.Idle);
  await stage.time.runFor(HOLD_MS + 30_000);
  assert.equal(stage.stateOf('slot'), State.Speculative);
  assert.equal(stage.fake.get('slot').state, State.Speculative);
  const told = operator.all('nodeStateUpdate').map(({ state, clusterId }) => [state, clusterId]);
  assert.deepEqual(
    told,
    [
      MachineState.CONFIGURING,
      MachineState.CONFIGURED,
      MachineState.DRAINING,
      MachineState.IDLE,
    ].map((state) => [state, 'blue']),
    'the last one to the former owner, and nothing about what was nobody’s',
  );
  for (const phase of ['configure', 'drain']) {
    assert.equal(await stage.metric(`${phase}_phase_seconds_count`), 1, phase);
    assert.ok((await stage.metric(`${phase}_phase_seconds_sum`)) >= 0.5, 'as long as it took');
  }
  assert.deepEqual(stage.audited, [
    'Provision slot success',
    'Bootstrap slot success',
    'Reclaim slot success',
    'Delete slot success',
  ]);
  await stage.stop();
});

test('a bootstrap that nobody answers: Idle again, and all stamps cleared', async () => {
  const stage = new ShardStage();
  stage.fake.addIdle(fourCores('host'));
  await stage.start();
  const host = () => stage.shard.parts.core.fleet.read(0);
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4, 2_000_000) });
  await stage.time.runFor(2_000);
  assert.equal(operator.all('bootstrapRequest').length, 1);
  assert.deepEqual([host().cluster, host().assigned.priority], ['blue', 2_000_000], 'stamped');
  operator.send({ case: 'rollup', value: noDemand('blue') });
  // To the moment when it is given up: the List that follows would clear it too, a cycle later.
  for (let steps = 0; steps < 400 && stage.audited.length === 0; steps++) {
    await stage.time.runFor(100);
  }
  assert.deepEqual(stage.audited, ['Bootstrap host ctx_canceled'], 'the time was up');
  const { state, cluster, intendedCluster, assigned } = host();
  assert.deepEqual([state, cluster, intendedCluster], [State.Idle, '', '']);
  assert.deepEqual(assigned, noAssignment);
  assert.equal(stage.fake.get('host').cluster, '', 'the provider was never asked');
  await stage.stop();
});
