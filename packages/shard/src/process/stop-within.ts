// The last bound of a shutdown. Records, the audit log and the lock are on a disk, and a disk may
// never answer: whoever waits for it is killed by the kubelet, after the longest grace, without a word
// in the log. What was not written by then is lost as in a crash, and nothing depends on it.

import { describeThrown, orAborted, type Runtime, withDeadline } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';

export interface StopWithinOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'timers'>;
  readonly logger: Logger;
  readonly ms: number;
}

/** Resolves when all is stopped, or when the time is over. Rejects as `stop` does. */
export async function stopWithin(
  { runtime, logger, ms }: StopWithinOptions,
  stop: () => Promise<void>,
): Promise<void> {
  const deadline = withDeadline(runtime, ms);
  try {
    await orAborted(stop(), deadline.signal);
  } catch (error) {
    if (!deadline.signal.aborted) throw error;
    const err = describeThrown(error);
    logger.error('shutdown took too long: what is left is given up', { err });
  } finally {
    deadline.dispose();
  }
}
