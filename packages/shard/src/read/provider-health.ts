// How each provider answered last, for the status of the shard.

import type { Clock } from '@bigfleet/base';
import type { Fleet } from '../fleet/fleet.ts';
import type { ProviderSet } from '../provider/provider-set.ts';
import type { RoundOutcome } from '../provider/provider-rounds.ts';
import { countByProvider } from '../ownership/fleet-summary.ts';
import type { ProviderSummaryInit } from './shard-status.ts';

interface LastList {
  readonly isHealthy: boolean;
  /** Of the last one that succeeded; 0 without one. */
  readonly unixNanos: bigint;
}

const NEVER: LastList = { isHealthy: false, unixNanos: 0n };

export class ProviderHealth {
  readonly #clock: Clock;
  #lists: ReadonlyMap<string, LastList> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What a cycle's reconcile came to. A provider that left the set is forgotten. */
  note(refreshes: ReadonlyMap<string, RoundOutcome>): void {
    const unixNanos = this.#clock.unixNanos();
    const before = this.#lists;
    this.#lists = new Map(
      [...refreshes].map(([name, outcome]) => {
        const last = before.get(name) ?? NEVER;
        if (outcome.kind === 'refreshed') return [name, { isHealthy: true, unixNanos }];
        // A List that is merely under way says nothing yet.
        const isOpen = outcome.kind === 'unanswered' && !outcome.isSilent;
        return [name, isOpen ? last : { ...last, isHealthy: false }];
      }),
    );
  }

  summaries(
    providers: ProviderSet,
    fleet: Fleet,
    factsOf: ((name: string) => ProviderSummaryInit) | undefined,
  ): ProviderSummaryInit[] {
    const counts = countByProvider(fleet);
    return [...providers].map(({ name }) => {
      const { isHealthy, unixNanos } = this.#lists.get(name) ?? NEVER;
      const count = counts.get(name);
      const idle = count?.idleMachines ?? 0;
      const speculative = count?.speculativeMachines ?? 0;
      return {
        name,
        ...factsOf?.(name),
        totalMachines: count?.totalMachines ?? 0,
        idleMachines: idle,
        speculativeMachines: speculative,
        freeMachines: idle + speculative,
        lastListUnixNanos: unixNanos,
        healthy: isHealthy,
      };
    });
  }
}
