// Which requests an answer of the shard confirms. Answers carry no number, and the shard may fold
// two roll-ups into one or reject one without a word. So an answer is taken for the oldest roll-up
// without one, and confirms only what every roll-up since then contained too: whichever of them it
// answers, those requests were in it. Never early; at worst late by the answers that went missing.

import type { RequestRef } from '../rollup/capacity-request.ts';

type Generation = readonly RequestRef[];

export class RollupGenerations {
  #unanswered: Generation[] = [];

  get unansweredCount(): number {
    return this.#unanswered.length;
  }

  sent(requests: Generation): void {
    this.#unanswered.push(requests);
  }

  /** `rollup`: the requests that are certainly in the NeedsTable. */
  applied(): Generation {
    const oldest = this.#unanswered.shift();
    if (oldest === undefined || this.#unanswered.length === 0) return oldest ?? [];
    const later = this.#unanswered.map((requests) => new Set(requests.map(({ uid }) => uid)));
    return oldest.filter(({ uid }) => later.every((uids) => uids.has(uid)));
  }

  /** `rollup-held`: answered, and nothing of it is in the NeedsTable. */
  held(): void {
    this.#unanswered.shift();
  }

  /** All of them, for a shard that never answers. */
  takeAll(): Generation {
    const all = this.#unanswered.flat();
    this.#unanswered = [];
    return [...new Map(all.map((request) => [request.uid, request])).values()];
  }
}
