// Proves how the cluster model binds, anchors gangs, evicts, recreates and scales, because every
// closed-loop law rests on it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Machine, State } from '@bigfleet/engine';
import { RACK_KEY } from '../catalogue/schema.ts';
import { ClusterModel } from './cluster-model.ts';
import { seedMachines, type ShapeSeed } from './seed-machines.ts';
import type { Shape } from './shape.ts';
import { cacheGang, gpuGang, service, tiny } from './shapes.ts';

const CLUSTER = 'c';
const nodes = (shape: Shape, seed: Partial<ShapeSeed>): Machine[] =>
  seedMachines({ shape, density: 10, ...seed }, [CLUSTER]);
const without = (machines: readonly Machine[], ...ids: string[]): Machine[] =>
  machines.filter(({ id }) => !ids.includes(id));

test('Pods go to the emptiest machine that they match and fit, ties by id', () => {
  const machines = [
    ...nodes(tiny, { configuredPerCluster: 3 }),
    ...nodes(service, { configuredPerCluster: 1 }),
  ];
  const cluster = new ClusterModel(CLUSTER, [{ shape: tiny, objects: 1, replicas: 4 }]);
  cluster.bind(machines);
  assert.deepEqual(cluster.counts(), { bound: 4, pending: 0 });
  assert.deepEqual(
    cluster.machinesOf(tiny.name),
    [1, 2, 3].map((n) => `tiny-stateless-c-00${n}`),
  );
  // The fourth Pod sits on the first machine: losing that one costs two.
  assert.equal(cluster.evict(without(machines, 'tiny-stateless-c-001')), 2);
});

test('a full machine takes nobody, another cluster’s or an unready one neither', () => {
  const [node] = nodes(tiny, { configuredPerCluster: 1, density: 3 });
  assert.ok(node !== undefined);
  const cluster = new ClusterModel(CLUSTER, [{ shape: tiny, objects: 1, replicas: 5 }]);
  cluster.bind([{ ...node, cluster: 'other' }]);
  cluster.bind([{ ...node, state: State.Configuring }]);
  assert.deepEqual(cluster.counts(), { bound: 0, pending: 5 });
  cluster.bind([node]);
  assert.deepEqual(cluster.counts(), { bound: 3, pending: 2 });
});

test('the first member anchors the gang, the others bind there or wait', () => {
  // Racks: two machines in the first, two in the second.
  const machines = nodes(gpuGang, { density: 1, configuredPerCluster: 4, contiguousRackBlock: 2 });
  const cluster = new ClusterModel(CLUSTER, [{ shape: gpuGang, objects: 1, replicas: 3 }]);
  cluster.bind(machines);
  assert.deepEqual(cluster.counts(), { bound: 2, pending: 1 });
  const racks = machines
    .filter(({ id }) => cluster.machinesOf(gpuGang.name).includes(id))
    .map(({ labels }) => labels.get(RACK_KEY));
  assert.equal(new Set(racks).size, 1);
});

test('a gang that lost every member is free to go elsewhere', () => {
  const machines = nodes(gpuGang, { density: 1, configuredPerCluster: 5, contiguousRackBlock: 2 });
  const cluster = new ClusterModel(CLUSTER, [{ shape: gpuGang, objects: 1, replicas: 2 }]);
  cluster.bind(machines);
  const first = cluster.machinesOf(gpuGang.name);
  const left = without(machines, ...first);
  assert.equal(cluster.evict(left), 2);
  cluster.recreate();
  cluster.bind(left);
  assert.deepEqual(cluster.counts(), { bound: 2, pending: 0 });
  assert.ok(cluster.machinesOf(gpuGang.name).every((id) => !first.includes(id)));
});

test('members of one gang may share a machine', () => {
  const machines = nodes(cacheGang, { configuredPerCluster: 1 });
  const cluster = new ClusterModel(CLUSTER, [{ shape: cacheGang, objects: 2, replicas: 4 }]);
  cluster.bind(machines);
  assert.deepEqual(cluster.boundPerObject(cacheGang.name), [4, 4]);
  assert.deepEqual(cluster.countsOf(cacheGang.name), { bound: 8, pending: 0 });
});

test('evicted Pods come back under a controller and not without', () => {
  for (const hasControllers of [true, false]) {
    const cluster = new ClusterModel(CLUSTER, [{ shape: tiny, objects: 1, replicas: 5 }], {
      hasControllers,
    });
    cluster.bind(nodes(tiny, { configuredPerCluster: 1 }));
    assert.equal(cluster.evict([]), 5);
    cluster.recreate();
    assert.deepEqual(cluster.counts(), { bound: 0, pending: hasControllers ? 5 : 0 });
  }
});

test('a freed machine has its room again', () => {
  const machines = nodes(tiny, { configuredPerCluster: 1, density: 2 });
  const cluster = new ClusterModel(CLUSTER, [{ shape: tiny, objects: 1, replicas: 2 }]);
  cluster.bind(machines);
  cluster.scale(tiny.name, 1);
  cluster.scale(tiny.name, 2);
  cluster.bind(machines);
  assert.deepEqual(cluster.counts(), { bound: 2, pending: 0 });
});

test('scaling down deletes pending Pods first, then the newest bound ones', () => {
  const machines = nodes(tiny, { configuredPerCluster: 3, density: 1 });
  const cluster = new ClusterModel(CLUSTER, [{ shape: tiny, objects: 1, replicas: 5 }]);
  cluster.bind(machines);
  assert.equal(cluster.scale(tiny.name, 3), 1);
  assert.deepEqual(cluster.counts(), { bound: 3, pending: 0 });
  cluster.scale(tiny.name, 2);
  assert.deepEqual(cluster.machinesOf(tiny.name), ['tiny-stateless-c-001', 'tiny-stateless-c-002']);
  assert.equal(cluster.scale('unknown', 1), 0);
});

test('the roll-up is all live Pods, or the pending ones only when asked', () => {
  const machines = nodes(tiny, { configuredPerCluster: 1, density: 3 });
  const cpuOf = (requestsFor: 'every-pod' | 'pending-pods'): number => {
    const cluster = new ClusterModel(CLUSTER, [{ shape: tiny, objects: 1, replicas: 5 }], {
      requestsFor,
    });
    cluster.bind(machines);
    return cluster.rollup()[0]?.aggregate.get('cpu') ?? 0;
  };
  assert.deepEqual([cpuOf('every-pod'), cpuOf('pending-pods')], [5 * 400, 2 * 400]);
});

test('gang machines say whom they serve', () => {
  const cluster = new ClusterModel(CLUSTER, [
    { shape: gpuGang, objects: 2, replicas: 1 },
    { shape: tiny, objects: 1, replicas: 1 },
  ]);
  cluster.bind([
    ...nodes(gpuGang, { density: 1, configuredPerCluster: 2 }),
    ...nodes(tiny, { configuredPerCluster: 1 }),
  ]);
  const groups = [...cluster.gangMachines()].map(([id, { group }]) => `${id} ${group}`).sort();
  assert.deepEqual(groups, [
    'gpu-training-small-c-001 gpu-training-small-1',
    'gpu-training-small-c-002 gpu-training-small-2',
  ]);
});
