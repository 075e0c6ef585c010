// Two shards that dial one provider without both declaring it shared both own everything it lists
// (coordinator §9.2). Provider fencing does not arbitrate between shard ids, so nothing else would
// notice: the conflict is counted once per provider and logged every minute while it lasts.
// Cost per report: one look at the last report of every shard.

import type { LeaderContext } from '../metrics/observer.ts';
import { diallingConflicts } from '../reports/dialled-providers.ts';
import type { SoftState } from '../reports/soft-state.ts';

const LOG_EVERY_MS = 60_000;

interface OwnershipWatchOptions extends LeaderContext {
  readonly soft: SoftState;
}

export class OwnershipWatch {
  readonly #options: OwnershipWatchOptions;
  /** When to log again, by address that was in conflict at the last look. */
  readonly #logAtMs = new Map<string, number>();

  constructor(options: OwnershipWatchOptions) {
    this.#options = options;
  }

  /** After a report was taken into the soft state. */
  onReport(): void {
    const { soft, runtime, log, observer } = this.#options;
    const conflicts = diallingConflicts(soft.pictures());
    for (const address of this.#logAtMs.keys()) {
      if (!conflicts.has(address)) this.#logAtMs.delete(address);
    }
    const nowMs = runtime.clock.monotonicMs();
    for (const [address, shards] of conflicts) {
      const logAtMs = this.#logAtMs.get(address);
      if (logAtMs === undefined) observer.onOwnershipConflict();
      if (logAtMs !== undefined && nowMs < logAtMs) continue;
      this.#logAtMs.set(address, nowMs + LOG_EVERY_MS);
      const fields = { provider_address: address, shards };
      log.error('provider is dialled by several shards and not declared shared by all', fields);
    }
  }
}
