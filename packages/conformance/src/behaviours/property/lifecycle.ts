// B1203: random walks of RPCs against the model of the state machine.

import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { acknowledged, notFenced, refusedWith, rejected } from '../../harness/expect.ts';
import { fencedCall, type Mutation, mutations } from '../../harness/fencing.ts';
import type { State } from '../../harness/machine.ts';
import { pickSpeculative } from '../../harness/pick.ts';
import { expectState, mustReach } from '../../harness/reach.ts';
import { release, standardCluster } from '../../harness/walk.ts';
import { ensureUntouched } from '../transitions/untouched.ts';
import { expectationOf } from './model.ts';

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
