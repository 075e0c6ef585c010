// Rows that a delta brought while an action was under way or a failure cooled down: they went
// unheard, and the cursor moved past them. The cursor of before brings them again, as they are then,
// so one List answers what would be a question per machine. With 50 actions in every cycle that is
// the difference between no questions and 50 of them in front of the List.
//
// Nothing is forgotten: what such a List does not bring, and what stays unheard for long, is handed
// back for single questions. Bounds: 8 cursors, each at most 8 deltas old, which bounds what a List
// brings twice; MAX_SKIPPED machines.

/** Deltas after which a cursor is given up. */
export const MAX_AGE_DELTAS = 8;
export const MAX_SKIPPED = 4_096;

export interface AppliedDelta {
  /** What it was asked with: a cursor of the plan, or what `since` said. */
  readonly since: Uint8Array;
  readonly isListed: (id: string) => boolean;
  readonly skippedIds: readonly string[];
}

interface Skipped {
  readonly since: Uint8Array;
  readonly ids: Set<string>;
  ageDeltas: number;
}

export class SkippedRows {
  /** Oldest cursor first; a machine is in one of them. */
  #cursors: Skipped[] = [];

  get count(): number {
    return this.#cursors.reduce((sum, { ids }) => sum + ids.size, 0);
  }

  /** The cursor that brings everything again that can be heard now; undefined: there is nothing. */
  since(isAskable: (id: string) => boolean): Uint8Array | undefined {
    return this.#cursors.find(({ ids }) => [...ids].some(isAskable))?.since;
  }

  /** Returns the machines that have to be asked about singly. */
  applied({ since, isListed, skippedIds }: AppliedDelta): readonly string[] {
    const again = this.#cursors.findIndex((cursor) => cursor.since === since);
    const lost = again < 0 ? [] : this.#broughtAgain(again, isListed);
    for (const cursor of this.#cursors) cursor.ageDeltas += 1;
    this.#skip(since, skippedIds, lost);
    const [old, kept] = [this.#cursors.filter(isOld), this.#cursors.filter(isNeeded)];
    this.#cursors = kept;
    return [...lost, ...old.flatMap(({ ids }) => [...ids])];
  }

  /** A full List has spoken of everybody. */
  clear(): void {
    this.#cursors = [];
  }

  /** That cursor and the younger ones have been answered; who is not in the answer may be gone. */
  #broughtAgain(from: number, isListed: (id: string) => boolean): string[] {
    const lost: string[] = [];
    for (const { ids } of this.#cursors.slice(from)) {
      for (const id of ids) if (!isListed(id)) lost.push(id);
      ids.clear();
    }
    return lost;
  }

  #skip(since: Uint8Array, skippedIds: readonly string[], lost: string[]): void {
    for (const { ids } of this.#cursors) for (const id of skippedIds) ids.delete(id);
    const known = this.#cursors.find((cursor) => cursor.since === since);
    const { ids } = known ?? this.#begin(since);
    let room = MAX_SKIPPED - this.count;
    for (const id of skippedIds) {
      if (room-- > 0) ids.add(id);
      else lost.push(id);
    }
  }

  #begin(since: Uint8Array): Skipped {
    const begun = { since, ids: new Set<string>(), ageDeltas: 0 };
    this.#cursors.push(begun);
    return begun;
  }
}

function isOld({ ageDeltas }: Skipped): boolean {
  return ageDeltas >= MAX_AGE_DELTAS;
}

function isNeeded(cursor: Skipped): boolean {
  return cursor.ids.size > 0 && !isOld(cursor);
}
