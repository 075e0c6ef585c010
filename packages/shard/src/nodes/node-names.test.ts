// Proves node identity: links reach instructions and updates, complete reports replace, nobody names
// another cluster's machines, and a link ends with the binding.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { State } from '@bigfleet/engine';
import { Stage } from '../operators/testing/stage.ts';
import type { TestOperator } from '../session/testing/test-operator.ts';
import { MAX_ENTRIES_PER_FRAME } from './node-names.ts';

interface Entry {
  readonly machineId: string;
  readonly nodeName?: string;
  readonly removed?: boolean;
}

function identify(operator: TestOperator, nodes: readonly Entry[], complete = false): void {
  operator.send({ case: 'nodeIdentity', value: { nodes: [...nodes], complete } });
}

async function blueStage(seed: string): Promise<{ stage: Stage; operator: TestOperator }> {
  const stage = new Stage(seed);
  for (const id of ['m1', 'm2']) stage.machines.put(id);
  stage.machines.put('g1', { cluster: 'green' });
  return { stage, operator: await stage.connect('blue') };
}

const DROPPED = 'session_frames_dropped_total';

test('a link that comes after the first instruction is in the next one', async () => {
  const { stage, operator } = await blueStage('later');
  const drain = (machineId: string): unknown =>
    stage.operators.drains.begin({
      kind: 'Reclaim',
      machineId,
      cluster: 'blue',
      graceSeconds: 60,
      preemptorPriority: 0,
      reasonCode: 'phase3.excess',
    });
  drain('m1');
  await stage.settle();
  assert.deepEqual(operator.all('reclaimInstruction').at(-1)?.nodes, ['m1']);
  identify(operator, [
    { machineId: 'm1', nodeName: 'node-1' },
    { machineId: 'm2', nodeName: 'node-2' },
  ]);
  await stage.settle();
  drain('m2');
  await stage.settle();
  const instruction = operator.all('reclaimInstruction').at(-1);
  assert.deepEqual([instruction?.nodes, instruction?.machineIds], [['node-2'], ['m2']]);
  // The first one, sent again after a reconnect, has the name now.
  const successor = stage.dial('blue-2').hello('blue', ['reclaim-completion']);
  await stage.settle();
  const again = successor.all('reclaimInstruction').map(({ nodes }) => nodes);
  assert.deepEqual(again, [['node-1'], ['node-2']]);
});

test('updates carry the name, the last one after unbinding too; then it is forgotten', async () => {
  const { stage, operator } = await blueStage('unbind');
  identify(operator, [{ machineId: 'm1', nodeName: 'node-1' }], true);
  await stage.settle();
  assert.equal(await stage.metric('node_links'), 1);
  const { nodeStates, nodeNames } = stage.operators;
  nodeStates.changed(stage.machines.move('m1', State.Draining, 'blue'), 'blue');
  await stage.settle();
  nodeStates.changed(stage.machines.move('m1', State.Idle, ''), 'blue');
  await stage.settle();
  const updates = operator.all('nodeStateUpdate').slice(-2);
  assert.deepEqual(
    updates.map(({ nodeName, state }) => [nodeName, state]),
    [
      ['node-1', State.Draining],
      ['node-1', State.Idle],
    ],
  );
  assert.equal(nodeNames.nameOf('m1'), undefined);
  assert.equal(await stage.metric('node_links'), 0);
});

test('a complete report replaces, a delta adds, renames and removes', async () => {
  const { stage, operator } = await blueStage('complete');
  const names = (): (string | undefined)[] =>
    ['m1', 'm2'].map((id) => stage.operators.nodeNames.nameOf(id));
  identify(operator, [{ machineId: 'm1', nodeName: 'a' }], true);
  identify(operator, [{ machineId: 'm2', nodeName: 'b' }]);
  await stage.settle();
  assert.deepEqual(names(), ['a', 'b']);
  identify(operator, [
    { machineId: 'm1', nodeName: 'renamed' },
    { machineId: 'm2', removed: true },
    { machineId: 'm2', removed: true },
  ]);
  await stage.settle();
  assert.deepEqual(names(), ['renamed', undefined]);
  identify(operator, [{ machineId: 'm2', nodeName: 'c' }], true);
  await stage.settle();
  assert.deepEqual(names(), [undefined, 'c']);
  assert.equal(await stage.metric(DROPPED, 'reason="foreign_node_identity"'), 0);
  stage.operators.forget('blue');
  assert.deepEqual(names(), [undefined, undefined]);
});

test('entries for machines of others, of nobody, or without a name are dropped and counted', async () => {
  const { stage, operator } = await blueStage('foreign');
  const green = await stage.connect('green');
  identify(green, [{ machineId: 'g1', nodeName: 'theirs' }]);
  await stage.settle();
  identify(operator, [
    { machineId: 'g1', nodeName: 'mine' },
    { machineId: 'g1', removed: true },
    { machineId: 'unknown', nodeName: 'x' },
    { machineId: 'm1', nodeName: '' },
    { machineId: 'm1', nodeName: 'n'.repeat(254) },
    { machineId: 'm2', nodeName: 'good' },
  ]);
  await stage.settle();
  assert.equal(stage.operators.nodeNames.nameOf('g1'), 'theirs');
  assert.equal(stage.operators.nodeNames.nameOf('m2'), 'good');
  assert.equal(await stage.metric(DROPPED, 'reason="foreign_node_identity"'), 5);
  assert.equal(stage.logged('operator message handling').length, 1);
});

test('a report beyond its bound changes nothing', async () => {
  const { stage, operator } = await blueStage('oversized');
  identify(operator, [{ machineId: 'm1', nodeName: 'kept' }]);
  const many = Array.from({ length: MAX_ENTRIES_PER_FRAME + 1 }, () => ({
    machineId: 'm1',
    nodeName: 'flood',
  }));
  identify(operator, many, true);
  await stage.settle();
  assert.equal(stage.operators.nodeNames.nameOf('m1'), 'kept');
  const dropped = await stage.metric(DROPPED, 'reason="oversized_node_identity"');
  assert.equal(dropped, MAX_ENTRIES_PER_FRAME + 1);
});
