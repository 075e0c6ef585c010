// A NodeStateUpdate from a view of the machine (shard §10). `clusterId` is always filled: with the
// cluster that the update goes to, also when the machine has just left it.

import { INSTANCE_TYPE_KEY, State, ZONE_KEY } from '@bigfleet/engine';
import { fromMap } from '@bigfleet/wire';
import type { ShardFrame } from '../session/frame.ts';
import type { NodeView } from './node-view.ts';

export function nodeStateKey(machineId: string): string {
  return `node:${machineId}`;
}

export interface NodeStateRoute {
  /** Whom the update goes to. */
  readonly cluster: string;
  readonly nodeName: string | undefined;
}

export function nodeStateFrame(view: NodeView, { cluster, nodeName }: NodeStateRoute): ShardFrame {
  return {
    payload: {
      case: 'nodeStateUpdate',
      value: {
        supersedesKey: nodeStateKey(view.machineId),
        machineId: view.machineId,
        clusterId: cluster,
        state: view.state,
        nodeName: nodeName ?? '',
        providerId: view.hostRef,
        lastError: view.state === State.Failed ? view.lastError : '',
        labels: fromMap(labelsOf(view)),
        resources: { resources: fromMap(view.allocatable) },
      },
    },
  };
}

function labelsOf({ labels, instanceType, zone }: NodeView): ReadonlyMap<string, string> {
  const all = new Map(labels);
  if (instanceType !== '') all.set(INSTANCE_TYPE_KEY, instanceType);
  if (zone !== '') all.set(ZONE_KEY, zone);
  return all;
}
