// Fencing: is the sender still the authority? Marks only rise; a rejected token never
// moves one. Everything is bigint, because a token rounded to 2⁵³ makes a zombie's write
// and its successor's look alike.

export interface FenceMark {
  readonly shardEpoch: bigint;
  readonly sequenceNumber: bigint;
}

/** What a shard stamps on every mutation it sends to a provider. */
export interface FencingToken extends FenceMark {
  readonly shardId: string;
}

/** An entirely empty token: in-process and certification callers, which are not fenced. */
export function isAbsentToken(token: FencingToken): boolean {
  return token.shardId === '' && token.shardEpoch === 0n && token.sequenceNumber === 0n;
}

/**
 * What a strict provider has against a token's shape; undefined: nothing. Negative numbers are
 * legal on the wire and compared as such, so refusing them is a choice of the provider's operator.
 */
export function negativeToken(token: FencingToken): string | undefined {
  const { shardId, shardEpoch, sequenceNumber } = token;
  if (shardId === '' || (shardEpoch >= 0n && sequenceNumber >= 0n)) return undefined;
  return `fencing token (${shardEpoch}, ${sequenceNumber}) is negative`;
}

/** Strictly newer, lexicographically. Equal is a replay and therefore not newer. */
export function isNewerThan(token: FenceMark, mark: FenceMark): boolean {
  if (token.shardEpoch !== mark.shardEpoch) return token.shardEpoch > mark.shardEpoch;
  return token.sequenceNumber > mark.sequenceNumber;
}

/**
 * The check of one mutation against the mark of its (shard, machine) pair: per machine,
 * because concurrent executors draw ordered numbers but race the sends, and a per-shard mark
 * fenced a healthy shard against itself.
 */
export function checkFence(token: FencingToken, mark: FenceMark | undefined): FenceVerdict {
  if (isAbsentToken(token)) return { kind: 'absent' };
  if (mark !== undefined && !isNewerThan(token, mark)) return { kind: 'stale', mark };
  const { shardEpoch, sequenceNumber } = token;
  return { kind: 'passed', mark: { shardEpoch, sequenceNumber } };
}

export type FenceVerdict =
  /** Not fenced; no mark is written. */
  | { readonly kind: 'absent' }
  /** FAILED_PRECONDITION; nothing is applied and the mark stays. */
  | { readonly kind: 'stale'; readonly mark: FenceMark }
  /** The new mark holds from now on, whatever becomes of the operation. */
  | { readonly kind: 'passed'; readonly mark: FenceMark };

/** One shard process's tokens: a fresh sequence number per attempt, drawn at send time, from 1. */
export class TokenSource {
  readonly #shardId: string;
  readonly #shardEpoch: bigint;
  #lastSequence = 0n;

  constructor(shardId: string, shardEpoch: bigint) {
    this.#shardId = shardId;
    this.#shardEpoch = shardEpoch;
  }

  next(): FencingToken {
    this.#lastSequence += 1n;
    return {
      shardId: this.#shardId,
      shardEpoch: this.#shardEpoch,
      sequenceNumber: this.#lastSequence,
    };
  }
}

/**
 * The coordinator's leadership term as a shard sees it: lower is a deposed leader, equal
 * is the same one speaking again, higher is a new one. A rejection never moves the mark.
 */
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
