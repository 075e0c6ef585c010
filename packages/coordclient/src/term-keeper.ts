// The highest coordinator term this shard has heard, durable in <data-dir>/coordinator-term, so that
// a freshly restarted shard cannot be talked to by a deposed leader. A term counts only when it is on
// disk; a rejected one never moves the mark.

import { err, ok, type Result } from '@bigfleet/base';
import { type DurableFile, readDurably, writeDurably } from '@bigfleet/shard';
import { TermMark } from '@bigfleet/wire';

export async function openTermKeeper(file: DurableFile): Promise<TermKeeper> {
  return new TermKeeper(file, (await readDurably(file, 'coordinator_term_corrupt', parse)) ?? 0n);
}

function parse(text: string): Result<bigint, string> {
  const digits = /^(\d{1,19})\n?$/.exec(text)?.[1];
  return digits === undefined ? err('it is not a decimal number') : ok(BigInt(digits));
}

export class TermKeeper {
  readonly #file: DurableFile;
  readonly #mark: TermMark;
  #durableTerm: bigint;

  constructor(file: DurableFile, term: bigint) {
    this.#file = file;
    this.#mark = new TermMark(term);
    this.#durableTerm = term;
  }

  /** Durable. */
  get term(): bigint {
    return this.#durableTerm;
  }

  /** Whether what came under this term may be acted on. Rejects when it cannot be made durable. */
  async accept(term: bigint): Promise<'current' | 'stale'> {
    if (this.#mark.observe(term) === 'stale') return 'stale';
    if (this.#mark.term > this.#durableTerm) {
      await writeDurably(this.#file, 'coordinator_term_unwritable', `${term}\n`);
      this.#durableTerm = term;
    }
    return 'current';
  }
}
