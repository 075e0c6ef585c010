// The stand-in scheduler on the test API server, under virtual time: what is bound where, and who is told
// that nothing fits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { KubeClient } from '../../api/client.ts';
import { WriteLanes } from '../../api/lanes.ts';
import { asList, at, type Obj, textAt } from '../api-server/json.ts';
import { InMemoryTransport } from '../in-memory-transport.ts';
import { pod, PODS_PATH, type TestCluster, testCluster } from '../test-cluster.ts';
import { StandInScheduler } from './scheduler.ts';

const NODES_PATH = '/api/v1/nodes';

interface Stage extends TestCluster {
  node(name: string, more?: { labels?: Obj; cpu?: string; spec?: Obj }): void;
  waiting(name: string, cpu: string, spec?: Obj): void;
  nodeOf(name: string): string;
  stop(): void;
}

function stage(): Stage {
  const cluster = testCluster();
  const { runtime } = cluster.time;
  const transport = new InMemoryTransport({ runtime, server: cluster.server });
  const lanes = new WriteLanes({ runtime, qps: 1000, burst: 1000 });
  const client = new KubeClient({ runtime, transport, lanes, fieldManager: 'scheduler' });
  const ender = new AbortController();
  const scheduler = new StandInScheduler({ runtime, client, signal: ender.signal });
  void scheduler.run().catch((bug: unknown) => assert.fail(String(bug)));
  const { ask, merge } = cluster;
  return {
    ...cluster,
    node: (name, { labels = {}, cpu = '4', spec = {} } = {}) => {
      ask('POST', NODES_PATH, { metadata: { name, labels }, spec });
      merge(`${NODES_PATH}/${name}/status`, {
        status: {
          allocatable: { cpu, memory: '16Gi', pods: '110' },
          conditions: [{ type: 'Ready', status: 'True' }],
        },
      });
    },
    waiting: (name, cpu, spec = {}) => {
      const resources = { requests: { cpu } };
      const containers = [{ name: 'main', image: 'app:1', resources }];
      assert.equal(
        ask('POST', PODS_PATH, pod(name, { spec: { containers, ...spec } })).status,
        201,
      );
    },
    nodeOf: (name) => textAt(ask('GET', `${PODS_PATH}/${name}`).object, 'spec', 'nodeName'),
    stop: () => ender.abort(new BigFleetError('cancelled', 'the test is over')),
  };
}

test('Pods fill a node up to its allocatable, and the rest is told why', async () => {
  const { node, waiting, nodeOf, ask, time, stop } = stage();
  node('n-1');
  for (const name of ['a', 'b', 'c']) waiting(name, '1500m');
  await time.runFor(2_000);
  assert.deepEqual(['a', 'b', 'c'].map(nodeOf), ['n-1', 'n-1', '']);
  const [told] = asList(at(ask('GET', `${PODS_PATH}/c`).object, 'status', 'conditions'));
  assert.equal(textAt(told, 'reason'), 'Unschedulable');
  assert.equal(textAt(told, 'message'), '0/1 nodes are available: 1 Insufficient cpu.');
  node('n-2');
  await time.runFor(2_000);
  assert.equal(nodeOf('c'), 'n-2');
  stop();
});

test('the higher priority goes first, and room that a Pod leaves is given on', async () => {
  const { node, waiting, nodeOf, ask, time, stop } = stage();
  ask('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
    metadata: { name: 'high' },
    value: 10,
  });
  waiting('low', '3');
  waiting('high', '3', { priorityClassName: 'high' });
  await time.runFor(1_000);
  node('n-1');
  await time.runFor(2_000);
  assert.deepEqual([nodeOf('low'), nodeOf('high')], ['', 'n-1']);
  ask('DELETE', `${PODS_PATH}/high`, { gracePeriodSeconds: 0 });
  await time.runFor(2_000);
  assert.equal(nodeOf('low'), 'n-1');
  stop();
});

test('labels, taints, cordons and gates are kept', async () => {
  const { node, waiting, nodeOf, merge, ask, time, stop } = stage();
  node('cordoned', { spec: { unschedulable: true } });
  node('plain', { labels: { zone: 'a' } });
  node('gpu', {
    labels: { zone: 'b' },
    spec: { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] },
  });
  const inZone = (...values: string[]): Obj => ({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values }] }],
      },
    },
  });
  waiting('selected', '1', { nodeSelector: { zone: 'a' } });
  waiting('tainted-away', '1', { affinity: inZone('b') });
  waiting('tolerant', '1', {
    affinity: inZone('b'),
    tolerations: [{ key: 'gpu', operator: 'Exists' }],
  });
  waiting('gated', '1', { schedulingGates: [{ name: 'queue' }] });
  await time.runFor(2_000);
  assert.deepEqual(['selected', 'tainted-away', 'tolerant', 'gated'].map(nodeOf), [
    'plain',
    '',
    'gpu',
    '',
  ]);
  merge(`${PODS_PATH}/gated`, { spec: { schedulingGates: null } });
  merge(`${NODES_PATH}/plain`, { spec: { unschedulable: true } });
  merge(`${NODES_PATH}/cordoned`, { spec: { unschedulable: null } });
  await time.runFor(2_000);
  assert.equal(nodeOf('gated'), 'cordoned');
  assert.equal(ask('GET', `${PODS_PATH}/gated`).status, 200);
  stop();
});
