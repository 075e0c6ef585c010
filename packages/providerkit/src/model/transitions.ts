// The four edges of the provider's state machine (provider-contract §3). Idle is the hub: there is no way
// from one binding to another and none from a binding to deletion. Failed has no edge out by RPC.

import type { MachineStateName, OperationKind } from './machine.ts';

export interface Edge {
  readonly start: MachineStateName;
  readonly transitional: MachineStateName;
  readonly target: MachineStateName;
}

export const edges: Readonly<Record<OperationKind, Edge>> = {
  create: { start: 'Speculative', transitional: 'Creating', target: 'Idle' },
  configure: { start: 'Idle', transitional: 'Configuring', target: 'Configured' },
  drain: { start: 'Configured', transitional: 'Draining', target: 'Idle' },
  delete: { start: 'Idle', transitional: 'Deleting', target: 'Speculative' },
};

const kinds: ReadonlyMap<MachineStateName, OperationKind> = new Map([
  ['Creating', 'create'],
  ['Configuring', 'configure'],
  ['Draining', 'drain'],
  ['Deleting', 'delete'],
]);

/** The operation that is under way in this state; undefined in a stable one. */
export function kindInTransit(state: MachineStateName): OperationKind | undefined {
  return kinds.get(state);
}
