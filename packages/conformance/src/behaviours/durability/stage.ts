// The durable lane, for whoever runs it. One kill serves B1001–B1005 and B1007:
//
//   1. boot the target with state and 64 slots; make a context over it;
//   2. stage = await crossRestart(context, kill), where `kill` sends SIGKILL, boots the target on
//      another port with the same state and resolves to the new endpoint;
//   3. run every check of `durabilityChecks` with a context whose `endpoint` is that new endpoint,
//      whose `durable` is the stage, and whose `process` is the fault provider (own state, 30 s
//      transition timeout), which B1006 alone kills.
//
// What crossRestart throws fails all six of them: nothing was acknowledged, or nothing came back.
// Checks that create machines wait for them to settle, so the checks may run in any order.

import type { AcknowledgedState, CheckContext, DurableStage } from '../../harness/check.ts';
import type { Endpoint } from '../../harness/endpoint.ts';
import { acknowledged } from '../../harness/expect.ts';
import { fencedCreate, token, uniqueShardId } from '../../harness/fencing.ts';
import type { State } from '../../harness/machine.ts';
import { pickN } from '../../harness/pick.ts';
import { quiescence } from '../../harness/quiescence.ts';
import { configureTo, createToIdle } from '../../harness/walk.ts';

export const DURABLE_SETTLE_MS = 20_000;

const clusterId = 'durable-cluster';
const metadata: ReadonlyMap<string, string> = new Map([
  ['d/k', 'v'],
  ['d/k2', 'v2'],
]);

/** `context.endpoint` is the target before the kill. */
export async function crossRestart(
  context: CheckContext,
  kill: () => Promise<Endpoint>,
): Promise<DurableStage> {
  const before = await acknowledgeState(context);
  const rebooted = await kill();
  return { before, after: await rebooted.list() };
}

async function acknowledgeState(context: CheckContext): Promise<AcknowledgedState> {
  const settle = { withinMs: DURABLE_SETTLE_MS };
  const [fencedId = '', boundId = ''] = await pickN(context, 2);
  const bound = { clusterId, metadata };
  const createdBound = await createToIdle(context, boundId, settle);
  const configured = await configureTo(context, boundId, bound, settle);
  const shardId = uniqueShardId(context, 'durA');
  const first = token(shardId, 3n, 7n);
  const createdFenced = await createToIdle(context, fencedId, { token: first, ...settle });
  const states = new Map<string, State>();
  for (const { id, state } of (await quiescence(context)).machines) states.set(id, state);
  // Acknowledged as late as possible: a provider that acks before it persists loses this one.
  const last = token(shardId, 3n, 8n);
  const lastAck = await fencedCreate(context, fencedId, last);
  const replay = acknowledged(lastAck, `Create ${fencedId} again with (3,8)`);
  const acks = [createdBound.ack, configured.ack, createdFenced.ack, replay];
  return {
    fenced: {
      machineId: fencedId,
      shardId,
      tokens: [first, last].map(({ shardEpoch: epoch, sequenceNumber: sequence }) => ({
        epoch,
        sequence,
      })),
    },
    bound: { machineId: boundId, clusterId, metadata, operationId: configured.ack.operationId },
    states,
    operationIds: new Set(acks.map(({ operationId }) => operationId)),
  };
}
