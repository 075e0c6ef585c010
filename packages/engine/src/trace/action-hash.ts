// One value for everything that a cycle decided, equal on any machine, thread and build that
// decides the same. Definition, so that others can compute it:
//
//   text digest   the first 64 bits of MurmurHash3 x86_128, seed 0, over the UTF-16LE code units
//   action        twelve 32-bit words: kind, grace, preemptor priority, 0, then the digests of
//                 machine id, cluster, fingerprint and group, low word first
//   hash          MurmurHash3 x86_128, seed 0, over the actions' words in order of emission
//
// Written as 32 hex digits. The reason is left out: it follows from the kind. The hash finds
// differences; it does not resist somebody who constructs two lists with one hash.
//
// Cost: one digest per action (its id) and one per distinct cluster, fingerprint and group.

import { type Brand, Murmur3, textDigest, type TextDigest } from '@bigfleet/base';
import type { Engine } from '../cycle/engine.ts';
import { isAcquisition } from '../model/action.ts';

/** 32 lower-case hex digits. */
export type ActionHash = string & Brand<'ActionHash'>;

export const ACTION_HASH_BYTES = 16;

/** Of what the last cycle decided. */
export function actionHash({ actions, inventory }: Engine): ActionHash {
  const hash = new Murmur3();
  const digests = new Map<string, TextDigest>();
  for (let at = 0; at < actions.length; at++) {
    const kind = actions.kind[at]!;
    const cluster = actions.cluster[at]!;
    const need = isAcquisition(kind) ? actions.row[at]?.need : undefined;
    hash.words(kind, actions.graceSeconds[at]!, actions.preemptorPriority[at]!, 0);
    addPair(
      hash,
      textDigest(inventory.ids[actions.slot[at]!] ?? ''),
      digestOf(digests, cluster < 0 ? '' : inventory.clusters.text(cluster)),
    );
    addPair(
      hash,
      digestOf(digests, need?.profile.fingerprint ?? ''),
      digestOf(digests, need?.group ?? ''),
    );
  }
  return hash.finishHex() as ActionHash;
}

function digestOf(digests: Map<string, TextDigest>, text: string): TextDigest {
  let digest = digests.get(text);
  if (digest === undefined) digests.set(text, (digest = textDigest(text)));
  return digest;
}

function addPair(hash: Murmur3, a: TextDigest, b: TextDigest): void {
  hash.words(a.low, a.high, b.low, b.high);
}
