// Which List to ask a provider for next: one cursor per provider, in memory only. Deltas cannot
// say that a machine is gone, so a full List comes at least every ten minutes; whatever casts
// doubt on the cursor (an answer without one, a refusal of it) leads to a full List too. A cursor
// advances only after its changes were applied.

export type ListMode =
  /** Every List is full: correct with any provider. */
  | 'full'
  /** Deltas, for providers with cursors; needed above about ten thousand machines. */
  | 'incremental';

export type PlannedList =
  | { readonly kind: 'full' }
  | { readonly kind: 'delta'; readonly sinceRevision: Uint8Array };

export const FULL_LIST_EVERY_MS = 600_000;
/** A longer revision is not kept: the provider is then listed in full each time. */
export const MAX_REVISION_BYTES = 65_536;

export class ListPlan {
  readonly #mode: ListMode;
  #revision: Uint8Array | undefined;
  #lastFullMs = Number.NEGATIVE_INFINITY;
  /** Whoever asks for a full List while one is under way means the next one. */
  #isAskedFull = false;

  constructor(mode: ListMode) {
    this.#mode = mode;
  }

  next(nowMs: number): PlannedList {
    this.#isAskedFull = false;
    const isDue = nowMs - this.#lastFullMs >= FULL_LIST_EVERY_MS;
    if (this.#revision === undefined || isDue) return { kind: 'full' };
    return { kind: 'delta', sinceRevision: this.#revision };
  }

  /** After the List asked for at `nowMs` was applied. */
  applied(list: PlannedList, revision: Uint8Array, nowMs: number): void {
    if (list.kind === 'full') this.#lastFullMs = nowMs;
    const isInBounds = revision.length > 0 && revision.length <= MAX_REVISION_BYTES;
    const isUsable = isInBounds && !this.#isAskedFull;
    // A copy: the revision is a piece of the whole answer and would keep all of it alive.
    this.#revision = this.#mode === 'incremental' && isUsable ? revision.slice() : undefined;
  }

  /** The provider refused the cursor, or three Lists have to agree: the next List is full. */
  askFull(): void {
    this.#revision = undefined;
    this.#isAskedFull = true;
  }
}
