// The log lines of records that a List brought and nobody could take: the first of each List, and one
// line with the count when there were more. A provider whose every record is bad is one defect, and
// half a million lines about it every ten seconds would be another.
//
// Bound: one count per provider with a List under way.

import { stateName } from '@bigfleet/engine';
import { type Logger, stableMessages } from '@bigfleet/telemetry';
import type { RejectedRecord } from '../provider/reconcile/ingest.ts';
import type { RoundOutcome } from '../provider/provider-rounds.ts';
import { machinesRejected } from './log-messages.ts';

const LINES_PER_LIST = 5;

export class RejectedLines {
  readonly #logger: Logger;
  readonly #counts = new Map<string, number>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  rejected(provider: string, { id, state, reason, detail }: RejectedRecord): void {
    const count = (this.#counts.get(provider) ?? 0) + 1;
    this.#counts.set(provider, count);
    if (count > LINES_PER_LIST) return;
    const { level, text } = stableMessages.machineRejected;
    const err = `${reason}: ${detail}`;
    this.#logger.log(level, text, { machine: id, state: stateName(state), err, provider });
  }

  /** Whoever has not answered is still being taken in: its List goes on. */
  cycled(refreshes: ReadonlyMap<string, RoundOutcome>): void {
    for (const [provider, { kind }] of refreshes) {
      const rejected = this.#counts.get(provider) ?? 0;
      if (kind === 'unanswered' || rejected === 0) continue;
      this.#counts.delete(provider);
      if (rejected <= LINES_PER_LIST) continue;
      const suppressed = rejected - LINES_PER_LIST;
      this.#logger.event(machinesRejected, { provider, rejected, suppressed });
    }
  }
}
