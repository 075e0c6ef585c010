// The state machine as a model: what an RPC does to a machine at rest.

import type { Mutation } from '../../harness/fencing.ts';
import type { State } from '../../harness/machine.ts';

interface Edge {
  readonly from: State;
  readonly to: State;
}

const edges: Readonly<Record<Mutation, Edge>> = {
  create: { from: 'SPECULATIVE', to: 'IDLE' },
  configure: { from: 'IDLE', to: 'CONFIGURED' },
  drain: { from: 'CONFIGURED', to: 'IDLE' },
  delete: { from: 'IDLE', to: 'SPECULATIVE' },
};

export type Expectation =
  /** Accepted; settles in `to`. */
  | { readonly kind: 'edge'; readonly to: State }
  /** Already there: a replay or a rejection, and nothing moves. */
  | { readonly kind: 'at-target' }
  | { readonly kind: 'rejected' }
  /** Delete of a provider that has none. */
  | { readonly kind: 'unimplemented' };

export function expectationOf(
  mutation: Mutation,
  state: State,
  capabilities: { readonly delete: boolean },
): Expectation {
  if (mutation === 'delete' && !capabilities.delete) return { kind: 'unimplemented' };
  const { from, to } = edges[mutation];
  if (state === from) return { kind: 'edge', to };
  return { kind: state === to ? 'at-target' : 'rejected' };
}
