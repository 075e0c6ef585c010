// Which List to ask a provider for next: one cursor per provider, in memory only. Deltas cannot
// say that a machine is gone, so a full List comes at least every ten minutes; whatever casts
// doubt on the cursor (an answer without one, a refusal of it, an answer on another connection than
// the cursor came on, a revision below it) leads to a full List too. A cursor advances only after its
// changes were applied.

export type ListMode =
  /** Every List is full: correct with any provider. */
  | 'full'
  /** Deltas, for providers with cursors; needed above about ten thousand machines. */
  | 'incremental';

export type PlannedList =
  | { readonly kind: 'full' }
  | { readonly kind: 'delta'; readonly sinceRevision: Uint8Array };

/** What an answer says about how far it goes. */
export interface Cursor {
  readonly revision: Uint8Array;
  /** That the answer came on: behind another one may be a provider that lost its state. */
  readonly connection: string;
}

export const FULL_LIST_EVERY_MS = 600_000;
/** A longer revision is not kept: the provider is then listed in full each time. */
export const MAX_REVISION_BYTES = 65_536;

export class ListPlan {
  readonly #mode: ListMode;
  #cursor: Cursor | undefined;
  #lastFullMs = Number.NEGATIVE_INFINITY;
  /** A request for a full List while one is under way means the next one. */
  #isAskedFull = false;

  constructor(mode: ListMode) {
    this.#mode = mode;
  }

  next(nowMs: number): PlannedList {
    this.#isAskedFull = false;
    const isDue = nowMs - this.#lastFullMs >= FULL_LIST_EVERY_MS;
    if (this.#cursor === undefined || isDue) return { kind: 'full' };
    return { kind: 'delta', sinceRevision: this.#cursor.revision };
  }

  /** Whether the answer to a delta shows that it was asked with a cursor of another life. */
  isContradicted({ revision, connection }: Cursor): boolean {
    const cursor = this.#cursor;
    if (cursor === undefined) return false;
    return connection !== cursor.connection || isSetBack(revision, cursor.revision);
  }

  /** After the List asked for at `nowMs` was applied. */
  applied(list: PlannedList, { revision, connection }: Cursor, nowMs: number): void {
    if (list.kind === 'full') this.#lastFullMs = nowMs;
    const isInBounds = revision.length > 0 && revision.length <= MAX_REVISION_BYTES;
    const isUsable = isInBounds && !this.#isAskedFull;
    // A copy: the revision is a piece of the whole answer and would keep all of it alive.
    const isKept = this.#mode === 'incremental' && isUsable;
    this.#cursor = isKept ? { revision: revision.slice(), connection } : undefined;
  }

  /** The provider refused the cursor, or three Lists have to agree: the next List is full. */
  askFull(): void {
    this.#cursor = undefined;
    this.#isAskedFull = true;
  }
}

// What can be told about a provider by two of its cursors. They are opaque, but foreign ones are
// commonly the decimal of a counter without an incarnation, and a counter that went back belongs to a
// provider that lost its state: it would answer the old cursor with nothing for as long as it takes
// to count that far again.

/** 2⁶⁴ has 20 digits; what is longer is no counter. */
const COUNTER = /^[0-9]{1,20}$/;

/** Whether a provider that had answered with `before` cannot have come to `after`. */
export function isSetBack(after: Uint8Array, before: Uint8Array): boolean {
  const [now, then] = [counterOf(after), counterOf(before)];
  // A provider that counts in another way is another provider.
  if (now === undefined || then === undefined) return now !== then;
  return now < then;
}

function counterOf(cursor: Uint8Array): bigint | undefined {
  const text = Buffer.from(cursor.buffer, cursor.byteOffset, cursor.byteLength).toString('latin1');
  return COUNTER.test(text) ? BigInt(text) : undefined;
}
