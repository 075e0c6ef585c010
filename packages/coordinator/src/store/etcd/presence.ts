// This replica's `replicas/<node id>` key under a lease of its own, so that `status` lists who is
// there. Purely informational: nothing is decided by it, and when it cannot be written for a while
// it is simply written again.

import { Backoff, type Runtime, sleep } from '@bigfleet/base';
import type { EtcdClient } from '../../etcd-client/index.ts';
import type { EtcdStoreObserver } from './options.ts';

const ttlSeconds = 10;
const callDeadlineMs = 3_000;

export interface PresenceOptions {
  readonly runtime: Runtime;
  readonly client: EtcdClient;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly observer: EtcdStoreObserver;
}

/** Returns when the signal aborts; never rejects. */
export async function keepPresence(options: PresenceOptions, signal: AbortSignal): Promise<void> {
  const { runtime, observer } = options;
  const random = runtime.random.stream('replica-presence');
  const backoff = new Backoff(random, { initialMs: 500, maxMs: 10_000 });
  while (!signal.aborted) {
    try {
      await holdLease(options, signal, () => backoff.reset());
    } catch (error) {
      if (signal.aborted) return;
      observer.onProblem?.('replica registration', error);
      await sleep(runtime, backoff.nextMs(), signal).catch(() => undefined);
    }
  }
}

async function holdLease(
  { runtime, client, key, value }: PresenceOptions,
  signal: AbortSignal,
  onHeld: () => void,
): Promise<never> {
  const limits = { deadlineMs: callDeadlineMs, signal };
  const { id, ttlMs } = await client.leaseGrant(ttlSeconds, limits);
  await client.put({ key, value, lease: id }, limits);
  // Ends when a renewal fails (then with a new lease) or the signal aborts.
  for (;;) {
    onHeld();
    await sleep(runtime, ttlMs / 3, signal);
    await client.leaseKeepAlive(id, limits);
  }
}
