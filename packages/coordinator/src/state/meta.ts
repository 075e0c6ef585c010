// A restore puts the ledger back to an older state, and from there it goes another way: what it says
// from then on is of the next generation (coordinator §10.5). Revisions of one generation are never
// those of another, or a shard that acts on revision 12 of what was lost would be taken for one that
// has heard revision 12 of today, and a domain given away that it still uses. So a generation counts
// on from the snapshot, in a range of its own; rows keep what is written in them and are read as if
// of today. Pure.

import type { Runtime } from '@bigfleet/base';
import type { Meta } from './rows.ts';

/** 2^21 generations fit into what a number counts exactly. */
const REVISIONS_PER_GENERATION = 2 ** 32;
const CLUSTER_UID_BYTES = 16;

type Position = Pick<Meta, 'ledgerGeneration' | 'assignmentRevision'>;

export function firstRevisionOf(ledgerGeneration: number): number {
  return ledgerGeneration * REVISIONS_PER_GENERATION;
}

/** The revision of a row, whenever it was written, among those of this generation. */
export function revisionIn({ ledgerGeneration }: Position, revision: number): number {
  return firstRevisionOf(ledgerGeneration) + (revision % REVISIONS_PER_GENERATION);
}

/** As the ledger begins in its next generation, which is at least the one that is asked for. */
export function nextGeneration<T extends Position>(before: T, atLeast = 0): T {
  const ledgerGeneration = Math.max(before.ledgerGeneration + 1, atLeast);
  const after = { ...before, ledgerGeneration };
  return { ...after, assignmentRevision: revisionIn(after, before.assignmentRevision) };
}

/**
 * Elections after a snapshot gave terms that it does not know; below a shard's high-water mark every
 * instruction of the restored leader would be dropped without a word.
 */
const TERMS_PER_GENERATION = 1_000n;

/**
 * The first term of a generation that begins from this ledger. Each generation between counts: a
 * snapshot that is restored twice would else bring its terms twice, and with them ids of transfers
 * that shards have carried out for the first attempt.
 */
export function firstTermOf(
  { ledgerGeneration, term }: Pick<Meta, 'ledgerGeneration' | 'term'>,
  generation: number,
): bigint {
  return term + TERMS_PER_GENERATION * BigInt(Math.max(1, generation - ledgerGeneration));
}

/** The layout of the stored state. A higher one is refused: its rows mean something unknown here. */
export const SCHEMA = 1;

/** The meta of a store that was never written; the term rises with the first leadership. */
export function firstMeta(runtime: Pick<Runtime, 'entropy'>): Meta {
  return {
    schema: SCHEMA,
    clusterUid: Buffer.from(runtime.entropy.bytes(CLUSTER_UID_BYTES)).toString('hex'),
    term: 0n,
    applyIndex: 0,
    lastCommandId: '',
    assignmentRevision: 0,
    ledgerGeneration: 0,
  };
}
