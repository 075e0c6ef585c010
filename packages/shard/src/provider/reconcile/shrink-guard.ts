// Holds removals back when a List suddenly omits most of a provider's machines: a provider that
// lost its store must not make the shard forget, and buy again, half a fleet. What three full
// Lists in a row omit is gone indeed. One guard per provider.

const MIN_KNOWN = 10;
const MAX_FRACTION = 0.5;
const CONFIRMATIONS = 3;

export type ShrinkVerdict =
  | { readonly kind: 'remove'; readonly ids: readonly string[] }
  /** Log it at error level and show it in a gauge. */
  | { readonly kind: 'hold'; readonly heldCount: number; readonly agreeing: number };

export class ShrinkGuard {
  #agreeing = 0;
  /** Omitted by every List of the present row of Lists. */
  #omitted: ReadonlySet<string> = new Set();

  get heldCount(): number {
    return this.#omitted.size;
  }

  /** `omitted`: machines that are known and that a complete List did not contain. */
  judge(knownCount: number, omitted: readonly string[]): ShrinkVerdict {
    const isShrunk = knownCount >= MIN_KNOWN && omitted.length > knownCount * MAX_FRACTION;
    if (!isShrunk) {
      this.#reset();
      return { kind: 'remove', ids: omitted };
    }
    const before = this.#omitted;
    const agreed = this.#agreeing === 0 ? omitted : omitted.filter((id) => before.has(id));
    this.#agreeing += 1;
    if (this.#agreeing >= CONFIRMATIONS) {
      this.#reset();
      return { kind: 'remove', ids: agreed };
    }
    this.#omitted = new Set(agreed);
    return { kind: 'hold', heldCount: agreed.length, agreeing: this.#agreeing };
  }

  #reset(): void {
    this.#agreeing = 0;
    this.#omitted = new Set();
  }
}
