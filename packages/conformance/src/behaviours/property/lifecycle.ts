// B1203: random walks of RPCs against the model of the state machine: what an RPC does to a machine
// at rest.

import { type Mutation, fencedCall, mutations } from '../../harness/fencing.ts';
import type { State } from '../../harness/machine.ts';
import { type Check, type CheckContext, defineCheck } from '../../harness/check.ts';
import { acknowledged, notFenced, refusedWith, rejected } from '../../harness/expect.ts';
import { pickSpeculative } from '../../harness/pick.ts';
import { expectState, mustReach } from '../../harness/reach.ts';
import { release, standardCluster } from '../../harness/walk.ts';
import { ensureUntouched } from '../transitions/transitions.ts';

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

const WALKS = 5;
const CALLS = 9;
const WINDOW_MS = 80;

async function walks(context: CheckContext): Promise<void> {
  for (let walk = 0; walk < WALKS; walk++) {
    const machineId = await pickSpeculative(context);
    let state: State = (await expectState(context, machineId, 'SPECULATIVE')).state;
    for (let call = 0; call < CALLS; call++) {
      state = await step(context, machineId, drawn(context, state), state);
    }
    await release(context, machineId);
  }
}

/** Half of the calls follow a legal edge, so that walks get beyond the first two states. */
function drawn({ random, capabilities }: CheckContext, state: State): Mutation {
  const legal = mutations.filter(
    (mutation) => expectationOf(mutation, state, capabilities).kind === 'edge',
  );
  const choice = random.below(2) === 0 ? legal : mutations;
  return choice[random.below(choice.length)] ?? 'create';
}

/** The state after the call. */
async function step(
  context: CheckContext,
  machineId: string,
  mutation: Mutation,
  state: State,
): Promise<State> {
  const expected = expectationOf(mutation, state, context.capabilities);
  const answer = await fencedCall(context, mutation, machineId, undefined);
  const what = `${mutation} ${machineId} (${state})`;
  switch (expected.kind) {
    case 'edge':
      acknowledged(answer, what);
      await mustReach(context, machineId, expected.to);
      return expected.to;
    case 'at-target':
      notFenced(answer, what);
      break;
    case 'rejected':
      rejected(answer, what);
      break;
    case 'unimplemented':
      refusedWith(answer, ['UNIMPLEMENTED'], what);
      break;
  }
  const cluster = state === 'CONFIGURED' ? standardCluster : '';
  await ensureUntouched(context, { machineId, state, cluster, windowMs: WINDOW_MS });
  return state;
}

export const lifecyclePropertyChecks: readonly Check[] = [
  defineCheck('B1203', 'Codes by state', walks),
];
