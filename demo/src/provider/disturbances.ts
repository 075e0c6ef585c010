// What a person may do to a simulated provider: take a zone away for a while, and raise the prices of spot
// machines for a while. Both are published at once, as a cloud would have it, and both end by themselves.

import { BigFleetError, type Runtime, sleep } from '@bigfleet/base';
import type { Provider, ReconcileReport } from '@bigfleet/providerkit';
import { type Commands, numberField, textField } from '../control/commands.ts';
import { DISTURBANCE_LIMITS, ZONES } from '../places.ts';
import type { SimulatedBackend } from './backend.ts';
import type { Market } from './market.ts';

const RETRY_MS = 50;

export interface DisturbanceOptions {
  readonly runtime: Runtime;
  readonly backend: SimulatedBackend;
  readonly market: Market;
  readonly provider: Pick<Provider, 'reconcile' | 'reportHostLost'>;
  /** Ends them with the process. */
  readonly signal: AbortSignal;
}

export class Disturbances {
  readonly #options: DisturbanceOptions;
  readonly #lostZones = new Set<string>();
  /** Counts spikes: an older one does not end a newer one. */
  #spikeCount = 0;

  constructor(options: DisturbanceOptions) {
    this.#options = options;
  }

  get commands(): Commands {
    const { forMs, spotFactor } = DISTURBANCE_LIMITS;
    return {
      'lose-zone': (fields) =>
        this.loseZone(textField(fields, 'zone', ZONES), numberField(fields, 'forMs', forMs)),
      'spike-spot': (fields) =>
        this.spikeSpot(
          numberField(fields, 'factor', spotFactor),
          numberField(fields, 'forMs', forMs),
        ),
    };
  }

  async loseZone(zone: string, forMs: number): Promise<{ readonly lostCount: number }> {
    const { backend, provider } = this.#options;
    if (this.#lostZones.has(zone)) {
      throw new BigFleetError('flag_invalid', `${zone} is lost already, and comes back by itself`);
    }
    this.#lostZones.add(zone);
    const lost = await backend.loseZone(zone);
    await Promise.all(
      lost.map((id) => provider.reportHostLost(id, `simulated: ${zone} lost its power`)),
    );
    await this.#publish();
    this.#later(forMs, () => {
      this.#lostZones.delete(zone);
      backend.restoreZone(zone);
    });
    return { lostCount: lost.length };
  }

  async spikeSpot(factor: number, forMs: number): Promise<{ readonly refreshedCount: number }> {
    const { market } = this.#options;
    market.spotFactor = factor;
    this.#spikeCount += 1;
    const spike = this.#spikeCount;
    const { refreshedCount } = await this.#publish();
    this.#later(forMs, () => {
      if (spike === this.#spikeCount) market.spotFactor = 1;
    });
    return { refreshedCount };
  }

  /** A look at the substrate that is under way may have begun before the change: another one follows. */
  async #publish(): Promise<ReconcileReport> {
    const { runtime, provider, signal } = this.#options;
    for (;;) {
      const report = await provider.reconcile();
      if (report.outcome !== 'skipped') return report;
      await sleep(runtime, RETRY_MS, signal);
    }
  }

  /** What it changes is published then. */
  #later(afterMs: number, change: () => void): void {
    const { runtime, signal } = this.#options;
    const end = async (): Promise<void> => {
      await sleep(runtime, afterMs, signal);
      change();
      await this.#publish();
    };
    // A stop of the process ends the wait; anything else is a bug and ends the process.
    end().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}
