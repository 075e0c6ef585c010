// After a commit whose outcome is unknown (coordinator §3.5): asks the engine until it knows, the
// leadership is over, or its lease window has closed. Never guesses: an answer invented here would
// be an acknowledged write lost or a lost write acknowledged.

import { AssertionError, describeThrown, sleep } from '@bigfleet/base';
import type { CommitRequest, LossReason, Resolution } from '../store/store.ts';
import type { ApplyQueueOptions } from './apply-queue.ts';

const RETRY_MS = 100;
/** A bound for engines without a lease; an etcd window closes long before. */
const MAX_ATTEMPTS = 100;

/** A `LossReason` means: step down for it. */
export async function resolveUnknown(
  options: ApplyQueueOptions,
  request: CommitRequest,
  lost: AbortSignal,
): Promise<'committed' | 'not-committed' | LossReason> {
  const { runtime, leadership } = options;
  for (let attempt = 0; attempt < MAX_ATTEMPTS && !lost.aborted; attempt++) {
    const resolution = await ask(options, request);
    if (resolution === 'deposed') return 'guard_failed';
    if (resolution !== 'unknown') return resolution;
    if (!leadership.isWithinWindow()) break;
    await sleep(runtime, RETRY_MS);
  }
  return 'lease_lost';
}

async function ask(options: ApplyQueueOptions, request: CommitRequest): Promise<Resolution> {
  try {
    return await options.store.resolve(options.leadership, request);
  } catch (error) {
    if (error instanceof AssertionError) throw error;
    options.log.warn('resolving an unknown outcome failed', { error: describeThrown(error) });
    return 'unknown';
  }
}
