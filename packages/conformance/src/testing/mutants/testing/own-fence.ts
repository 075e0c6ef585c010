// A fence that the author wrote instead of the kit's: calls reach the kit without their token. What
// the kit refuses by shape alone (an empty id) still reaches it untouched.

import type { FencingToken } from '@bigfleet/wire';
import { aroundMutations, type Call, refused } from '../../../harness/testing/tamperings.ts';
import type { Layers } from '../../../harness/testing/layers.ts';
import type { Tampering } from '../../../harness/testing/tamper.ts';
import { inFront } from './front.ts';

export interface FenceRules {
  /** What a mark belongs to; the pair of shard and machine unless told otherwise. */
  readonly keyOf?: (token: FencingToken, machineId: string) => string;
  readonly isNewer?: (token: FencingToken, mark: FencingToken) => boolean;
}

/** Its marks survive a restart: what is wrong with it is the rule alone. */
export function ownFence(rules: FenceRules): Layers {
  const { keyOf = pairOf, isNewer = isLexicographicallyNewer } = rules;
  const marks: Marks = new Map();
  return inFront(() =>
    fencedBy(async (token, machineId) => {
      const key = keyOf(token, machineId);
      const mark = marks.get(key);
      if (mark !== undefined && !isNewer(token, mark)) return false;
      marks.set(key, token);
      return true;
    }),
  );
}

export type Marks = Map<string, FencingToken>;

/** Any rule at all: whether the token passes. */
export function fencedBy(
  passes: (token: FencingToken, machineId: string) => Promise<boolean>,
): Tampering {
  return aroundMutations(async (call, forward) => {
    const { token, machineId } = call;
    if (token === undefined || isMalformed(call)) return forward(call);
    const isPassed = await passes(token, machineId);
    return isPassed ? forward({ ...call, token: undefined }) : refused('FAILED_PRECONDITION');
  });
}

export function pairOf(token: FencingToken, machineId: string): string {
  return `${token.shardId} ${machineId}`;
}

export function isLexicographicallyNewer(token: FencingToken, mark: FencingToken): boolean {
  if (token.shardEpoch !== mark.shardEpoch) return token.shardEpoch > mark.shardEpoch;
  return token.sequenceNumber > mark.sequenceNumber;
}

/** Refused by its shape, before any fence. */
export function isMalformed({ machineId }: Call): boolean {
  return machineId === '';
}
