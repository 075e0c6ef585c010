// Renews one lease and knows how long it is certainly alive: deadline = moment of *sending* the last
// successful renewal + TTL − 1.5 s, on the monotonic clock. A stalled event loop, a suspended
// machine or a cut network therefore closes the window by itself; nobody has to notice first
// (coordinator §3.3, "trusting a boolean isLeader").

import { BigFleetError, type Runtime, sleep, type Timer } from '@bigfleet/base';
import type { EtcdClient, GrantedLease } from '../../etcd-client/client.ts';
import { windowMarginMs } from './options.ts';

const retryMs = 200;
const minAttemptMs = 200;

export interface LeaseKeeperOptions {
  readonly runtime: Runtime;
  readonly client: EtcdClient;
  readonly lease: GrantedLease;
  /** Once: etcd said that it is gone, or the window closed. */
  readonly onEnded: () => void;
}

export class LeaseKeeper {
  readonly #runtime: Runtime;
  readonly #client: EtcdClient;
  readonly #id: bigint;
  readonly #onEnded: () => void;
  readonly #stop = new AbortController();
  #ttlMs: number;
  #deadlineMs: number;
  #closing: Timer | undefined;

  constructor({ runtime, client, lease, onEnded }: LeaseKeeperOptions) {
    this.#runtime = runtime;
    this.#client = client;
    this.#id = lease.id;
    this.#onEnded = onEnded;
    this.#ttlMs = lease.ttlMs;
    this.#deadlineMs = windowEndMs(lease);
    this.#watchDeadline();
    // It ends by itself; a failure of it is a bug, and a lease that nobody renews is no window.
    this.#renewForEver().catch((error: unknown) => {
      this.#end();
      throw error;
    });
  }

  isWithinWindow(): boolean {
    return !this.#stop.signal.aborted && this.#leftMs() > 0;
  }

  /** Renews no more; the window is closed from now on. Idempotent. */
  stop(): void {
    this.#closing?.cancel();
    this.#stop.abort();
  }

  #leftMs(): number {
    return this.#deadlineMs - this.#runtime.clock.monotonicMs();
  }

  #watchDeadline(): void {
    this.#closing?.cancel();
    this.#closing = this.#runtime.timers.after(this.#leftMs(), () => this.#end());
  }

  #end(): void {
    if (this.#stop.signal.aborted) return;
    this.stop();
    this.#onEnded();
  }

  async #renewForEver(): Promise<void> {
    const { signal } = this.#stop;
    let pauseMs = this.#ttlMs / 3;
    while (!signal.aborted) {
      try {
        await sleep(this.#runtime, pauseMs, signal);
        await this.#renew(signal);
        pauseMs = this.#ttlMs / 3;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof BigFleetError && error.code === 'etcd_lease_gone') return this.#end();
        // Anything else may pass; the window decides how long we may hope.
        pauseMs = retryMs;
      }
    }
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const deadlineMs = Math.max(minAttemptMs, this.#leftMs());
    const renewed = await this.#client.leaseKeepAlive(this.#id, { deadlineMs, signal });
    this.#ttlMs = renewed.ttlMs;
    this.#deadlineMs = Math.max(this.#deadlineMs, windowEndMs(renewed));
    this.#watchDeadline();
  }
}

function windowEndMs({ sentAtMs, ttlMs }: GrantedLease): number {
  return sentAtMs + ttlMs - windowMarginMs;
}
