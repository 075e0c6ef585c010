// How many commands one report may commit (coordinator §6.1). What is over the budget waits for the
// next report of the same shard, so that a mass restart cannot starve admin commands. A command that
// could not be written ends the budget: the next ones would meet the same trouble, and the reply
// must not wait.

import type { ApplyResult, Ledger } from '../ledger/ledger.ts';
import type { CommandBody } from '../state/commands.ts';

const COMMANDS_PER_REPORT = 8;

export class CommandBudget {
  readonly #ledger: Ledger;
  #left = COMMANDS_PER_REPORT;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  get isSpent(): boolean {
    return this.#left === 0;
  }

  /** `spent`: not attempted. */
  async apply(body: CommandBody): Promise<ApplyResult | { readonly kind: 'spent' }> {
    if (this.isSpent) return { kind: 'spent' };
    this.#left--;
    const result = await this.#ledger.apply(body);
    if (result.kind === 'busy' || result.kind === 'unavailable' || result.kind === 'not-leader') {
      this.#left = 0;
    }
    return result;
  }
}
