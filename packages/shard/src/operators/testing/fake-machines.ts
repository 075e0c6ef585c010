// The inventory as sessions see it, as a map. Also the demand, because hints ask for both.

import { type StateCode, isBound, State } from '@bigfleet/engine';
import type { DemandedProfile } from '../../hints/supply.ts';
import type { BoundMachines, NodeView } from '../../nodes/node-view.ts';

export function nodeView(id: string, changes: Partial<NodeView> = {}): NodeView {
  return {
    id,
    state: State.Configured,
    cluster: 'blue',
    host: { provider: 'alpha', ref: `host-${id}` },
    lastError: '',
    instanceType: 'm6i.large',
    zone: 'zone-a',
    labels: new Map([['pool', 'general']]),
    allocatable: new Map([['cpu', 4_000]]),
    ...changes,
  };
}

export class FakeMachines implements BoundMachines {
  readonly views: Map<string, NodeView> = new Map();
  readonly profiles: Map<string, readonly DemandedProfile[]> = new Map();

  put(machineId: string, changes: Partial<NodeView> = {}): NodeView {
    const view = nodeView(machineId, changes);
    this.views.set(machineId, view);
    return view;
  }

  /** The machine after a transition, as the shard's state would show it. */
  move(machineId: string, state: StateCode, cluster: string): NodeView {
    return this.put(machineId, { ...this.views.get(machineId), state, cluster });
  }

  idsBoundTo(cluster: string): readonly string[] {
    return [...this.views.values()]
      .filter((view) => view.cluster === cluster && isBound(view.state))
      .map(({ id }) => id);
  }

  isBoundTo(machineId: string, cluster: string): boolean {
    const view = this.views.get(machineId);
    return view !== undefined && view.cluster === cluster && isBound(view.state);
  }

  viewOf(machineId: string): NodeView | undefined {
    return this.views.get(machineId);
  }

  profilesOf(cluster: string): readonly DemandedProfile[] {
    return this.profiles.get(cluster) ?? [];
  }
}
