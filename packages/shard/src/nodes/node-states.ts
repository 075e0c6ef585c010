// Tells operators about their machines: on every applied state change, from workers and from
// reconcile, and in the replay after a reconnect. The caller passes the cluster from before the
// change, because the change may have cleared it: without it the last update would reach nobody
// and the former owner's UpcomingNode would stay in Draining for ever.
//
// No session: dropped silently; the replay at the next connection repairs it. Nothing here waits.

import { INSTANCE_TYPE_KEY, State, ZONE_KEY } from '@bigfleet/engine';
import { wireResources } from '../engine-host/wire-values.ts';
import type { OperatorSession } from '../session/session.ts';
import type { SessionTable } from '../session/session-table.ts';
import type { NodeNames } from './node-names.ts';
import type { BoundMachines, NodeView } from './node-view.ts';
import { fromMap } from '@bigfleet/wire';
import type { ShardFrame } from '../session/frame.ts';

export interface NodeStatesOptions {
  readonly sessions: SessionTable;
  readonly names: NodeNames;
  readonly machines: Pick<BoundMachines, 'viewOf'>;
}

export class NodeStates {
  readonly #options: NodeStatesOptions;

  constructor(options: NodeStatesOptions) {
    this.#options = options;
  }

  /** `view` is the machine after the change; `previousCluster` is empty when it had none. */
  changed(view: NodeView, previousCluster: string): void {
    const cluster = view.cluster === '' ? previousCluster : view.cluster;
    const hasMoved = previousCluster !== '' && previousCluster !== cluster;
    // A provider moved it to another cluster under our eyes: to its former owner it is unbound.
    if (hasMoved) this.#post(previousCluster, { ...view, state: State.Idle });
    if (hasMoved) this.#options.names.unbound(view.id);
    if (cluster !== '') this.#post(cluster, view);
    if (view.cluster === '') this.#options.names.unbound(view.id);
  }

  /** For the replay: only if the machine is still the session's. */
  replay(session: OperatorSession, machineId: string): void {
    const view = this.#options.machines.viewOf(machineId);
    if (view === undefined || view.cluster !== session.cluster) return;
    this.#send(session, view);
  }

  #post(cluster: string, view: NodeView): void {
    const session = this.#options.sessions.sessionOf(cluster);
    if (session !== undefined) this.#send(session, view);
  }

  #send(session: OperatorSession, view: NodeView): void {
    const nodeName = this.#options.names.nameOf(view.id) ?? '';
    session.post(nodeStateKey(view.id), nodeStateFrame(view, session.cluster, nodeName));
  }
}

function nodeStateKey(machineId: string): string {
  return `node:${machineId}`;
}

/**
 * A NodeStateUpdate from a view of the machine (shard §10). `clusterId` is always filled: with the
 * cluster that the update goes to, also when the machine has just left it.
 */
function nodeStateFrame(view: NodeView, cluster: string, nodeName: string): ShardFrame {
  return {
    payload: {
      case: 'nodeStateUpdate',
      value: {
        supersedesKey: nodeStateKey(view.id),
        machineId: view.id,
        clusterId: cluster,
        state: view.state,
        nodeName,
        providerId: view.host?.ref ?? '',
        lastError: view.state === State.Failed ? view.lastError : '',
        labels: fromMap(labelsOf(view)),
        resources: wireResources(view.allocatable),
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
