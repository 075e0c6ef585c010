// One pair's fence as a script: tokens in order, each with what must become of it. The probe is
// Create on a machine that was created before, so FAILED_PRECONDITION can only be the fence.

import type { FencingToken } from '@bigfleet/wire';
import type { CheckContext } from '../../harness/context.ts';
import { acknowledged, fenced } from '../../harness/expect.ts';
import { fencedCreate, shownToken, token } from '../../harness/fencing.ts';

export interface ScriptedToken {
  readonly epoch: bigint;
  readonly sequence: bigint;
  readonly isAccepted: boolean;
}

export function yes(epoch: number | bigint, sequence: number | bigint): ScriptedToken {
  return { epoch: BigInt(epoch), sequence: BigInt(sequence), isAccepted: true };
}

export function no(epoch: number | bigint, sequence: number | bigint): ScriptedToken {
  return { epoch: BigInt(epoch), sequence: BigInt(sequence), isAccepted: false };
}

/** The last accepted token of the script is the mark that a finding names. */
export async function runScript(
  context: CheckContext,
  pair: { readonly machineId: string; readonly shardId: string },
  script: readonly ScriptedToken[],
): Promise<void> {
  let mark: FencingToken | undefined;
  for (const { epoch, sequence, isAccepted } of script) {
    const stamp = token(pair.shardId, epoch, sequence);
    await probe(context, pair.machineId, stamp, { isAccepted, mark });
    if (isAccepted) mark = stamp;
  }
}

interface Expected {
  readonly isAccepted: boolean;
  readonly mark: FencingToken | undefined;
}

/** One fenced Create, judged. */
export async function probe(
  context: CheckContext,
  machineId: string,
  stamp: FencingToken,
  { isAccepted, mark }: Expected,
): Promise<void> {
  const answer = await fencedCreate(context, machineId, stamp);
  const against = mark === undefined ? 'as the first token' : `after ${shownToken(mark)}`;
  const what = `Create ${machineId} by ${stamp.shardId} with ${shownToken(stamp)} ${against}`;
  if (isAccepted) acknowledged(answer, what);
  else fenced(answer, what);
}
