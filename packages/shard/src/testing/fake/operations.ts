// The four edges of the contract: where an operation starts, what is seen meanwhile, where it ends.

import { State, type StateCode } from '@bigfleet/engine';

export type OperationKind = 'create' | 'configure' | 'drain' | 'delete';

export interface Edge {
  readonly from: StateCode;
  readonly via: StateCode;
  readonly to: StateCode;
}

export const edges: Readonly<Record<OperationKind, Edge>> = {
  create: { from: State.Speculative, via: State.Creating, to: State.Idle },
  configure: { from: State.Idle, via: State.Configuring, to: State.Configured },
  drain: { from: State.Configured, via: State.Draining, to: State.Idle },
  delete: { from: State.Idle, via: State.Deleting, to: State.Speculative },
};
