// After a commit whose outcome is unknown (coordinator §3.5): asks the engine until it knows, the
// leadership is over, or its lease window has closed. Never guesses: an answer invented here would
// be an acknowledged write lost or a lost write acknowledged.

import { AssertionError, describeThrown, sleep, type Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { CommitRequest, Leadership, LossReason, Resolution, Store } from '../store/store.ts';

const RETRY_MS = 100;
/** A bound for engines without a lease; an etcd window closes long before. */
const MAX_ATTEMPTS = 100;

export interface ResolveOptions {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly leadership: Leadership;
  readonly log: Logger;
}

/** A `LossReason` means: step down for it. */
export async function resolveUnknown(
  options: ResolveOptions,
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

async function ask(options: ResolveOptions, request: CommitRequest): Promise<Resolution> {
  try {
    return await options.store.resolve(options.leadership, request);
  } catch (error) {
    if (error instanceof AssertionError) throw error;
    options.log.warn('resolving an unknown outcome failed', { error: describeThrown(error) });
    return 'unknown';
  }
}
