// Log lines that have a bound: of rejected records, and of the brake on machines that never join.

import { type BrakedNeed, type BrakedType, type BrakeObserver, stateName } from '@bigfleet/engine';
import { type Logger, stableMessages } from '@bigfleet/telemetry';
import type { RoundOutcome } from '../provider/provider-rounds.ts';
import type { RejectedRecord } from '../provider/reconcile/ingest.ts';
import { configuresFail, configuresFreed, machinesRejected } from './log-messages.ts';

const LINES_PER_LIST = 5;

/**
 * Records of a List that the fleet refused: the first of each List, and one line with the count when
 * there were more. A provider whose every record is bad is one defect, and half a million lines about
 * it every ten seconds would be another. Bound: one count per provider with a List under way.
 */
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

// The log lines of the brake on machines that never join: one when a pause begins, one when it is
// over. Pauses double, so a need that never joins is told some thirty times a day, not every cycle.

export function createBrakeLines(logger: Logger): BrakeObserver {
  return {
    onHeld: ({ subject, failureCount, pauseMs, lastError }) =>
      logger.event(configuresFail, {
        ...namesOf(subject),
        failures: failureCount,
        pause_seconds: pauseMs / 1_000,
        last_error: lastError,
      }),
    onCleared: ({ subject, failureCount }, by) =>
      logger.event(configuresFreed, { ...namesOf(subject), failures: failureCount, by }),
  };
}

function namesOf(subject: BrakedNeed | BrakedType): Record<string, string> {
  if ('cluster' in subject) return { cluster: subject.cluster, fingerprint: subject.fingerprint };
  return { provider: subject.provider, instance_type: subject.instanceType };
}
