// The action hash from plain actions, word by word as its definition says (../action-hash.ts).

import { Murmur3, textDigest } from '@bigfleet/base';
import type { ActionHash } from '../action-hash.ts';
import type { DecidedAction } from '../entry.ts';

export function hashActions(actions: readonly DecidedAction[]): ActionHash {
  const hash = new Murmur3();
  for (const action of actions) {
    const { machineId, cluster, fingerprint, group } = action;
    hash.words(action.kind, action.graceSeconds, action.preemptorPriority, 0);
    const [id, from, need, gang] = [machineId, cluster, fingerprint, group].map(textDigest);
    hash.words(id!.low, id!.high, from!.low, from!.high);
    hash.words(need!.low, need!.high, gang!.low, gang!.high);
  }
  return hash.finishHex() as ActionHash;
}
