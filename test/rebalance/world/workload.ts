// What the clusters of the rebalance tests want: pods that fill a machine of one type each, and a
// small change now and then, so that cycles follow each other. That change is always served by a
// machine of the shard's own: demand that nothing can serve would itself be a shortage to answer.

import assert from 'node:assert/strict';
import type { TestCluster } from '../../shard/test-cluster.ts';
import { BASE_TYPE, CORES } from './park.ts';

export interface Demand {
  readonly instanceType: string;
  readonly podCount: number;
  readonly priority?: number;
  /** Dollars. */
  readonly interruptionPenalty?: number;
}

const SERVICE = 1_000;
const MAX_PODS = 16;

/** Replaces what was wanted of the type before. */
export function want(cluster: TestCluster, demand: Demand): void {
  const { instanceType, podCount, priority = SERVICE, interruptionPenalty = 0 } = demand;
  assert.ok(podCount <= MAX_PODS);
  for (let pod = 0; pod < MAX_PODS; pod++) {
    const uid = `${instanceType}-${pod}`;
    if (pod >= podCount) cluster.demand().delete(uid);
    else put(cluster, uid, instanceType, { cpu: `${CORES}`, priority, interruptionPenalty });
  }
}

const pulses = new WeakMap<TestCluster, number>();

/** Leaves with the next roll-up, within half a second. */
export function pulse(cluster: TestCluster): void {
  const count = (pulses.get(cluster) ?? 0) + 1;
  pulses.set(cluster, count);
  const cpu = `${1 + (count % 2)}m`;
  put(cluster, 'pulse', BASE_TYPE, { cpu, priority: SERVICE, interruptionPenalty: 0 });
}

interface Size {
  readonly cpu: string;
  readonly priority: number;
  readonly interruptionPenalty: number;
}

function put(cluster: TestCluster, uid: string, instanceType: string, size: Size): void {
  const { cpu, priority, interruptionPenalty } = size;
  const refused = cluster.demand().set({
    namespace: 'default',
    name: uid,
    uid,
    resourceVersion: '1',
    isForeign: false,
    isAcknowledged: false,
    spec: {
      requirements: [
        { key: 'node.kubernetes.io/instance-type', operator: 'In', values: [instanceType] },
      ],
      resources: { cpu },
      priority,
      interruptionPenalty,
    },
  });
  assert.equal(refused, undefined);
}
