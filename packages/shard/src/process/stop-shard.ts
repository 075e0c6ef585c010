// Graceful shutdown (shard §3.5): no more cycles, what waits is dropped (it is derived again), what
// runs may finish, sessions are half-closed, then everything is forced. Session streams never end by
// themselves and an operator may never answer, so the wait for executions has a bound of its own:
// in-flight transitions are the provider's, and the next process learns of them from List.

import { describeThrown, orAborted, type Runtime, withDeadline } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { ShardCore } from '../core/shard-core.ts';
import type { Operators } from '../operators/operators.ts';
import type { RecordWriter } from '../records/record-writer.ts';
import type { ShardExtension, ShardListener, ShardOptions } from './shard-options.ts';

/** For executions under way; the listener then has its own, shorter bound. */
const STOP_GRACE_MS = 10_000;

export interface StopOptions {
  readonly options: ShardOptions;
  readonly core: ShardCore;
  readonly operators: Operators;
  readonly listener: ShardListener;
  readonly records: RecordWriter | undefined;
  readonly extension: ShardExtension;
}

export async function stopShard(stopping: StopOptions): Promise<void> {
  const { options, core, operators, listener, records, extension } = stopping;
  const { runtime, host, storage, settings } = options;
  const deadline = withDeadline(runtime, settings.stopGraceMs ?? STOP_GRACE_MS);
  try {
    await core.stop(deadline.signal);
  } finally {
    deadline.dispose();
  }
  extension.stop?.();
  operators.stop();
  await listener.stop();
  await host.close();
  await records?.close();
  await storage.audit.close();
}

// The last bound of a shutdown. Records, the audit log and the lock are on a disk, and a disk may
// never answer: whoever waits for it is killed by the kubelet, after the longest grace, without a word
// in the log. What was not written by then is lost as in a crash, and nothing depends on it.

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
