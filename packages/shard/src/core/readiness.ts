// Ready after one successful reconcile of every provider, or a minute after the first: one dead
// provider must not hide the others. Without a provider at once, because operators must be able
// to connect before the first is registered. Latched: a later outage makes no shard unready, only its
// end does. `/readyz` says the same (shard §3.4), and never a word about the coordinator.

import type { Clock } from '@bigfleet/base';
import type { ReadinessSource } from '@bigfleet/telemetry';
import type { ProviderSet } from '../provider/provider-set.ts';

const READY_AFTER_FIRST_MS = 60_000;
const NOT_READY_TEXT = 'first provider reconcile not yet complete';

export class Readiness implements ReadinessSource {
  readonly #clock: Clock;
  readonly #providers: ProviderSet;
  readonly #succeeded = new Set<string>();
  #firstSuccessMs: number | undefined;
  #isLatched = false;
  #isShuttingDown = false;

  constructor(clock: Clock, providers: ProviderSet) {
    this.#clock = clock;
    this.#providers = providers;
  }

  /** A List of this provider was taken in. */
  noteSuccess(provider: string): void {
    this.#succeeded.add(provider);
    this.#firstSuccessMs ??= this.#clock.monotonicMs();
    // Now, not at the next question: a provider that is added later must not undo it.
    this.#isLatched ||= this.#isReadyNow();
  }

  get isReady(): boolean {
    this.#isLatched ||= this.#isReadyNow();
    return this.#isLatched;
  }

  /** Without the grace for a dead provider, and not latched: whose machines are unknown is not gone. */
  get isInventoryWhole(): boolean {
    return [...this.#providers].every(({ name }) => this.#succeeded.has(name));
  }

  state(): ReturnType<ReadinessSource['state']> {
    if (this.#isShuttingDown) return { ready: false, reason: 'shutting down' };
    return this.isReady ? { ready: true } : { ready: false, reason: NOT_READY_TEXT };
  }

  /** 503 from now on. */
  shutDown(): void {
    this.#isShuttingDown = true;
  }

  #isReadyNow(): boolean {
    if (this.isInventoryWhole) return true;
    if (this.#firstSuccessMs === undefined) return false;
    return this.#clock.monotonicMs() - this.#firstSuccessMs >= READY_AFTER_FIRST_MS;
  }
}
