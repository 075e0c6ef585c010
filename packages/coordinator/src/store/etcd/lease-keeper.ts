// Renews one lease and knows how long it is certainly alive: deadline = moment of *sending* the last
// successful renewal + TTL − 1.5 s, on the monotonic clock. A stalled event loop, a suspended
// machine or a cut network therefore closes the window by itself; nobody has to notice first
// (coordinator §3.3, "trusting a boolean isLeader").

import { BigFleetError, sleep, type Timer } from '@bigfleet/base';
import type { GrantedLease } from '../../etcd-client/client.ts';
import { type EtcdAccess, windowMarginMs } from './options.ts';

const retryMs = 200;
const minAttemptMs = 200;

export interface LeaseKeeperOptions extends Pick<EtcdAccess, 'runtime' | 'client'> {
  readonly lease: GrantedLease;
  /** Once: etcd said that it is gone, or the window closed. */
  readonly onEnded: () => void;
}

export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  readonly #stop = new AbortController();
  #ttlMs: number;
  #deadlineMs: number;
  #closing: Timer | undefined;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#ttlMs = options.lease.ttlMs;
    this.#deadlineMs = windowEndMs(options.lease);
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
    return this.#deadlineMs - this.#options.runtime.clock.monotonicMs();
  }

  #watchDeadline(): void {
    this.#closing?.cancel();
    this.#closing = this.#options.runtime.timers.after(this.#leftMs(), () => this.#end());
  }

  #end(): void {
    if (this.#stop.signal.aborted) return;
    this.stop();
    this.#options.onEnded();
  }

  async #renewForEver(): Promise<void> {
    const { signal } = this.#stop;
    let pauseMs = this.#ttlMs / 3;
    while (!signal.aborted) {
      try {
        await sleep(this.#options.runtime, pauseMs, signal);
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
    const { client, lease } = this.#options;
    const renewed = await client.leaseKeepAlive(lease.id, { deadlineMs, signal });
    this.#ttlMs = renewed.ttlMs;
    this.#deadlineMs = Math.max(this.#deadlineMs, windowEndMs(renewed));
    this.#watchDeadline();
  }
}

function windowEndMs({ sentAtMs, ttlMs }: GrantedLease): number {
  return sentAtMs + ttlMs - windowMarginMs;
}
