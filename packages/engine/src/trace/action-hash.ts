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
import { ActionKind } from '../model/action.ts';
import type { ActionsView, InventoryView, RowView } from './engine-view.ts';
import type { DecidedAction } from './entry.ts';

/** 32 lower-case hex digits. */
export type ActionHash = string & Brand<'ActionHash'>;

export const ACTION_HASH_BYTES = 16;

export interface ActionSource {
  readonly actions: ActionsView;
  readonly inventory: Pick<InventoryView, 'ids' | 'clusters'>;
}

/** Of what the last cycle decided. */
export function actionHash({ actions, inventory }: ActionSource): ActionHash {
  const hash = new Murmur3();
  const digests = new Map<string, TextDigest>();
  for (let at = 0; at < actions.length; at++) {
    const kind = actions.kind[at]!;
    const cluster = actions.cluster[at]!;
    const need = servedNeed(kind, actions.row[at]);
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

/** The same value from plain actions. */
export function hashActions(actions: readonly DecidedAction[]): ActionHash {
  const hash = new Murmur3();
  const digests = new Map<string, TextDigest>();
  for (const action of actions) {
    hash.words(action.kind, action.graceSeconds, action.preemptorPriority, 0);
    addPair(hash, textDigest(action.machineId), digestOf(digests, action.cluster));
    addPair(hash, digestOf(digests, action.fingerprint), digestOf(digests, action.group));
  }
  return hash.finishHex() as ActionHash;
}

/** Only acquisitions name the need that they serve. */
function servedNeed(kind: number, row: RowView | undefined): RowView['need'] | undefined {
  return kind === ActionKind.Bootstrap || kind === ActionKind.Provision ? row?.need : undefined;
}

function digestOf(digests: Map<string, TextDigest>, text: string): TextDigest {
  let digest = digests.get(text);
  if (digest === undefined) digests.set(text, (digest = textDigest(text)));
  return digest;
}

function addPair(hash: Murmur3, a: TextDigest, b: TextDigest): void {
  hash.words(a.low, a.high, b.low, b.high);
}
