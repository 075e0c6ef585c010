// Which machines were written by others than reconcile, by provider, until reconcile asks: it must
// not take the row of such a machine for known. A machine in doubt is one whose truth only its
// provider can tell: a call about it ended without an answer, or we declared it Failed ourselves.
//
// Bound: one entry per machine.

import type { LocalWrites } from '../provider/row-trust.ts';

interface Sets {
  readonly touched: Set<string>;
  readonly doubted: Set<string>;
}

export class WriteJournal {
  readonly #byProvider = new Map<string, Sets>();

  touch(provider: string, id: string): void {
    this.#setsOf(provider).touched.add(id);
  }

  doubt(provider: string, id: string): void {
    const { touched, doubted } = this.#setsOf(provider);
    touched.add(id);
    doubted.add(id);
  }

  has(provider: string, id: string): boolean {
    return this.#byProvider.get(provider)?.touched.has(id) === true;
  }

  take(provider: string): LocalWrites {
    const sets = this.#byProvider.get(provider);
    this.#byProvider.delete(provider);
    return { touched: [...(sets?.touched ?? [])], doubted: [...(sets?.doubted ?? [])] };
  }

  #setsOf(provider: string): Sets {
    let sets = this.#byProvider.get(provider);
    if (sets === undefined) {
      sets = { touched: new Set(), doubted: new Set() };
      this.#byProvider.set(provider, sets);
    }
    return sets;
  }
}
