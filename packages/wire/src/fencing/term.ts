// The coordinator's leadership term as a shard sees it: lower is a deposed leader, equal
// is the same one speaking again, higher is a new one. A rejection never moves the mark.

export type TermVerdict = 'stale' | 'current' | 'advanced';

export class TermMark {
  #term: bigint;

  constructor(persistedTerm: bigint) {
    this.#term = persistedTerm;
  }

  get term(): bigint {
    return this.#term;
  }

  /** On `advanced` the caller persists the new term before it acts on it. */
  observe(term: bigint): TermVerdict {
    if (term < this.#term) return 'stale';
    if (term === this.#term) return 'current';
    this.#term = term;
    return 'advanced';
  }
}
