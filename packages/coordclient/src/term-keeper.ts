// The highest coordinator term this shard has heard, durable in <data-dir>/coordinator-term, so that
// a freshly restarted shard cannot be talked to by a deposed leader. A term counts only when it is on
// disk; a rejected one never moves the mark.

import { BigFleetError, describeThrown } from '@bigfleet/base';
import type { DurableFile } from '@bigfleet/shard';
import { TermMark } from '@bigfleet/wire';

export async function openTermKeeper(file: DurableFile): Promise<TermKeeper> {
  let text: string | undefined;
  try {
    text = await file.read();
  } catch (cause) {
    throw corrupt(file, `it cannot be read: ${describeThrown(cause)}`);
  }
  if (text === undefined) return new TermKeeper(file, 0n);
  const digits = /^(\d{1,19})\n?$/.exec(text)?.[1];
  if (digits === undefined) throw corrupt(file, 'it is not a decimal number');
  return new TermKeeper(file, BigInt(digits));
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
      await this.#write(term);
      this.#durableTerm = term;
    }
    return 'current';
  }

  async #write(term: bigint): Promise<void> {
    try {
      await this.#file.replace(`${term}\n`);
    } catch (cause) {
      const problem = `${this.#file.path} cannot be written: ${describeThrown(cause)}`;
      throw new BigFleetError('coordinator_term_unwritable', problem, { cause });
    }
  }
}

function corrupt({ path }: DurableFile, problem: string): BigFleetError {
  return new BigFleetError('coordinator_term_corrupt', `${path} cannot be used: ${problem}`);
}
