// Rate discipline for messages that a storm could repeat thousands of times a second: up to
// `perSecond` records pass in each window of one second, the rest are counted, and at the end of the
// window one more record with `suppressed=<count>` says how many were left out; it carries the
// fields of the last of them. So a burst never ends without its count.

import type { Runtime, Timer } from '@bigfleet/base';
import type { LogFields } from './fields.ts';
import type { Logger } from './logger.ts';
import type { LogMessage, MessageFields } from './messages.ts';

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
  const { runtime, logger, message, perSecond } = options;
  let windowEndMs = Number.NEGATIVE_INFINITY;
  let passed = 0;
  let suppressed = 0;
  let lastSuppressed: LogFields = {};
  let timer: Timer | undefined;
  const endWindow = (): void => {
    timer?.cancel();
    timer = undefined;
    if (suppressed > 0) {
      logger.log(message.level, message.text, { ...lastSuppressed, suppressed });
    }
    windowEndMs = Number.NEGATIVE_INFINITY;
    passed = 0;
    suppressed = 0;
    lastSuppressed = {};
  };
  return {
    log(fields) {
      const nowMs = runtime.clock.monotonicMs();
      if (nowMs >= windowEndMs) {
        endWindow();
        windowEndMs = nowMs + WINDOW_MS;
      }
      if (passed < perSecond) {
        passed++;
        logger.event(message, fields);
        return;
      }
      suppressed++;
      lastSuppressed = fields;
      timer ??= runtime.timers.after(windowEndMs - nowMs, endWindow);
    },
    close: endWindow,
  };
}
