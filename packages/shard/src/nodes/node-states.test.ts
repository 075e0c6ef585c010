// Proves what operators are told about their machines, and that it reaches the right one: the owner,
// the former owner at the end, never a bystander.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { State } from '@bigfleet/engine';
import { nodeView } from '../operators/testing/fake-machines.ts';
import { Stage } from '../operators/testing/stage.ts';

test('an update shows shape, host and state, with the cluster always filled', async () => {
  const stage = new Stage('content');
  const operator = await stage.connect('blue');
  const view = stage.machines.put('m1', {
    state: State.Configuring,
    labels: new Map([
      ['pool', 'gpu'],
      ['__proto__', 'kept'],
    ]),
    lastError: 'of an earlier life',
  });
  stage.operators.nodeStates.changed(view, '');
  await stage.settle();
  const [update] = operator.all('nodeStateUpdate');
  assert.equal(update?.supersedesKey, 'node:m1');
  assert.equal(update?.machineId, 'm1');
  assert.equal(update?.clusterId, 'blue');
  assert.equal(update?.state, State.Configuring);
  assert.equal(update?.providerId, 'host-m1');
  assert.equal(update?.nodeName, '');
  assert.equal(update?.lastError, '');
  assert.deepEqual(
    new Map(Object.entries(update?.labels ?? {})),
    new Map([
      ['pool', 'gpu'],
      ['__proto__', 'kept'],
      ['node.kubernetes.io/instance-type', 'm6i.large'],
      ['topology.kubernetes.io/zone', 'zone-a'],
    ]),
  );
  assert.deepEqual({ ...update?.resources?.resources }, { cpu: '4' });
  assert.deepEqual(update?.taints, []);
});

test('unknown zone and type are left out; the error shows when Failed only', async () => {
  const stage = new Stage('failed');
  const operator = await stage.connect('blue');
  const gone = { state: State.Failed, lastError: 'host lost: gone', instanceType: '', zone: '' };
  stage.operators.nodeStates.changed(nodeView('m1', { ...gone, cluster: '' }), 'blue');
  await stage.settle();
  const [update] = operator.all('nodeStateUpdate');
  assert.equal(update?.lastError, 'host lost: gone');
  assert.equal(update?.clusterId, 'blue');
  assert.deepEqual(Object.keys(update?.labels ?? {}), ['pool']);
});

test('routing: the owner, else the former owner, else nobody', async () => {
  const stage = new Stage('routing');
  const blue = await stage.connect('blue');
  const green = await stage.connect('green');
  const { nodeStates } = stage.operators;
  nodeStates.changed(nodeView('owned', { cluster: 'blue' }), 'blue');
  nodeStates.changed(nodeView('drained', { state: State.Idle, cluster: '' }), 'green');
  const lost = nodeView('lost', { state: State.Failed, cluster: '', lastError: 'host lost' });
  nodeStates.changed(lost, 'green');
  nodeStates.changed(nodeView('free', { state: State.Idle, cluster: '' }), '');
  nodeStates.changed(nodeView('offline', { cluster: 'red' }), 'red');
  nodeStates.changed(nodeView('moved', { cluster: 'green' }), 'blue');
  await stage.settle();
  const seen = (operator: typeof blue): unknown =>
    operator.all('nodeStateUpdate').map(({ machineId, state }) => [machineId, state]);
  assert.deepEqual(seen(blue), [
    ['owned', State.Configured],
    ['moved', State.Idle],
  ]);
  assert.deepEqual(seen(green), [
    ['drained', State.Idle],
    ['lost', State.Failed],
    ['moved', State.Configured],
  ]);
});

test('a machine that moved takes no node name along', async () => {
  const stage = new Stage('moved');
  stage.machines.put('m1');
  const operator = await stage.connect('blue');
  const green = await stage.connect('green');
  const link = { machineId: 'm1', nodeName: 'n1' };
  operator.send({ case: 'nodeIdentity', value: { nodes: [link] } });
  await stage.settle();
  stage.operators.nodeStates.changed(stage.machines.move('m1', State.Configured, 'green'), 'blue');
  await stage.settle();
  assert.equal(green.all('nodeStateUpdate')[0]?.nodeName, '');
});

test('a machine that left the inventory leaves its name behind nowhere', async () => {
  const stage = new Stage('removed');
  stage.machines.put('m1');
  const operator = await stage.connect('blue');
  const link = { machineId: 'm1', nodeName: 'n1' };
  operator.send({ case: 'nodeIdentity', value: { nodes: [link] } });
  await stage.settle();
  assert.equal(stage.operators.nodeNames.size, 1);
  const view = stage.machines.viewOf('m1') ?? assert.fail('m1 is there');
  stage.operators.nodeStates.changed({ ...view, cluster: '' }, 'blue');
  assert.equal(stage.operators.nodeNames.size, 0);
});
