// Saves results that the store refused, until it takes them (provider-contract §13): with backoff, one
// machine at a time, each in its section, so that a newer change of the machine is never
// overwritten by an older one. After a few failures in a row the provider is not ready: a crash now
// would forget what it has told.

import { Backoff, type BigFleetError, type Timer } from '@bigfleet/base';
import type { LogMessage } from '@bigfleet/telemetry';
import { spawn } from './background.ts';
import type { Kit } from './kit.ts';

const FAILURES_UNTIL_NOT_READY = 3;
const BACKOFF = { initialMs: 200, maxMs: 30_000 };

const saveFailed: LogMessage<'err' | 'unsaved_count'> = {
  level: 'error',
  text: 'store save failed (durability at risk)',
};

export class UnsavedSaver {
  readonly #kit: Kit;
  readonly #backoff: Backoff;
  #timer: Timer | undefined;
  #failureCount = 0;

  constructor(kit: Kit) {
    this.#kit = kit;
    this.#backoff = new Backoff(kit.runtime.random.stream('unsaved'), BACKOFF);
    kit.ledger.onUnsaved = (error) => {
      if (error === undefined) this.#recovered();
      else this.#failed(error);
    };
  }

  /** One last attempt for all of them; what the store still refuses is lost with the process. */
  async flush(): Promise<void> {
    this.#disarm();
    await this.#saveAll();
    this.#disarm();
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  async #saveAll(): Promise<void> {
    const { ledger, sections } = this.#kit;
    for (const id of ledger.unsaved) {
      try {
        await sections.run(id, () => ledger.saveAgain(id));
      } catch (error) {
        return this.#failed(error as BigFleetError);
      }
    }
  }

  #failed(error: BigFleetError): void {
    const { ledger, logger, ready, runtime, lifetime } = this.#kit;
    this.#failureCount++;
    logger.event(saveFailed, { err: error, unsaved_count: ledger.unsaved.size });
    if (this.#failureCount >= FAILURES_UNTIL_NOT_READY) ready.block('store');
    if (lifetime.aborted) return;
    this.#timer ??= runtime.timers.after(this.#backoff.nextMs(), () => {
      this.#timer = undefined;
      spawn(() => this.#saveAll());
    });
  }

  #recovered(): void {
    this.#failureCount = 0;
    this.#backoff.reset();
    this.#kit.ready.clear('store');
  }
}
