// One answer to "is it ready", for gRPC health and `/readyz` alike. Ready when the process has
// started and the kit says so; the kit may take it back (a disk that keeps nothing, a refused
// credential) and give it again. Stopping ends it for good.

import { createReadiness, type ReadinessSource } from '@bigfleet/telemetry';
import { HealthRegistry } from '@bigfleet/wire';

const NOT_READY = 'not ready';

export class ReadyGate {
  readonly health: HealthRegistry = new HealthRegistry();
  readonly #readiness = createReadiness({ reason: NOT_READY, latched: false });
  #isStarted = false;
  #isStopping = false;
  #isKitReady = false;
  #reasons: readonly string[] = [];

  constructor() {
    this.health.setAll('not-serving');
  }

  get readiness(): ReadinessSource {
    return this.#readiness;
  }

  kitChanged(isReady: boolean, reasons: readonly string[]): void {
    this.#isKitReady = isReady;
    this.#reasons = reasons;
    this.#publish();
  }

  started(): void {
    this.#isStarted = true;
    this.#publish();
  }

  stopping(): void {
    this.#isStopping = true;
    this.#readiness.shutDown();
    this.#publish();
  }

  #publish(): void {
    const isReady = this.#isStarted && this.#isKitReady && !this.#isStopping;
    this.health.setAll(isReady ? 'serving' : 'not-serving');
    if (isReady) this.#readiness.markReady();
    else this.#readiness.markNotReady(this.#reason());
  }

  #reason(): string {
    return this.#reasons.length === 0 ? NOT_READY : `${NOT_READY}: ${this.#reasons.join(', ')}`;
  }
}
