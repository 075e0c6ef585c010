// Rate discipline for messages that a storm could repeat thousands of times a second: up to
// `perSecond` records pass in each window of one second, the rest are counted, and at the end of the
// window one more record with `suppressed=<count>` says how many were left out; it carries the
// fields of the last of them. So a burst never ends without its count.

import type { Runtime, Timer } from '@bigfleet/base';
import type { LogFields } from './fields.ts';
import type { Logger, MessageFields } from './logger.ts';
import type { LogMessage } from './messages.ts';

const WINDOW_MS = 1_000;

export interface SampledOptions<K extends string, O extends string> {
  readonly runtime: Pick<Runtime, 'clock' | 'timers'>;
  readonly logger: Logger;
  readonly message: LogMessage<K, O>;
  readonly perSecond: number;
}

export interface SampledMessage<K extends string, O extends string> {
  log(fields: MessageFields<K, O>): void;
  /** Reports what is still suppressed and releases the timer. */
  close(): void;
}

export function createSampledMessage<K extends string, O extends string>(
  options: SampledOptions<K, O>,
): SampledMessage<K, O> {
  return new WindowedMessage(options);
}

class WindowedMessage<K extends string, O extends string> implements SampledMessage<K, O> {
  readonly #options: SampledOptions<K, O>;
  #windowEndMs = Number.NEGATIVE_INFINITY;
  #passed = 0;
  #suppressed = 0;
  #lastSuppressed: LogFields = {};
  #timer: Timer | undefined;

  constructor(options: SampledOptions<K, O>) {
    this.#options = options;
  }

  log(fields: MessageFields<K, O>): void {
    const { runtime, logger, message, perSecond } = this.#options;
    const nowMs = runtime.clock.monotonicMs();
    if (nowMs >= this.#windowEndMs) {
      this.#endWindow();
      this.#windowEndMs = nowMs + WINDOW_MS;
    }
    if (this.#passed < perSecond) {
      this.#passed++;
      logger.event(message, fields);
      return;
    }
    this.#suppressed++;
    this.#lastSuppressed = fields;
    this.#timer ??= runtime.timers.after(this.#windowEndMs - nowMs, () => this.#endWindow());
  }

  close(): void {
    this.#endWindow();
  }

  #endWindow(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const { logger, message } = this.#options;
    if (this.#suppressed > 0) {
      const fields = { ...this.#lastSuppressed, suppressed: this.#suppressed };
      logger.log(message.level, message.text, fields);
    }
    this.#windowEndMs = Number.NEGATIVE_INFINITY;
    this.#passed = 0;
    this.#suppressed = 0;
    this.#lastSuppressed = {};
  }
}
