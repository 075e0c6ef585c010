// Moves confirmed requests to Acknowledged, beside the roll-up loop and never in it: ten thousand
// patches take longer than an interval. A request is queued once, however often it is confirmed,
// and one that was written here is remembered until the cluster's own cache shows it, or every
// interval would write it again. A failed write is retried by the next roll-up that finds the
// request still Pending.

import { runWithDeadline } from '@bigfleet/base';
import { createSampledMessage, durationSeconds, type SampledMessage } from '@bigfleet/telemetry';
import type { RequestRef } from '../rollup/capacity-request.ts';
import type { BoundContext } from './context.ts';
import { asLogValue, rethrowBug } from './supervisor.ts';
import { acknowledgeFailed } from './log-messages.ts';

const FAILURES_PER_SECOND = 5;

export class Acknowledger {
  readonly #context: BoundContext;
  readonly #failed: SampledMessage<'cr' | 'ns' | 'err', never>;
  /** Bounded by the cluster's requests, like the set below: one entry per uid. */
  readonly #queue = new Map<string, RequestRef>();
  readonly #running = new Set<string>();
  readonly #written = new Set<string>();
  #batchStartMs: number | undefined;

  constructor(context: BoundContext) {
    const { runtime, logger } = context;
    this.#context = context;
    this.#failed = createSampledMessage({
      runtime,
      logger,
      message: acknowledgeFailed,
      perSecond: FAILURES_PER_SECOND,
    });
  }

  acknowledge(requests: readonly RequestRef[]): void {
    for (const request of requests) {
      const { uid } = request;
      if (!this.#written.has(uid) && !this.#running.has(uid)) this.#queue.set(uid, request);
    }
    if (this.#queue.size > 0) this.#batchStartMs ??= this.#context.runtime.clock.monotonicMs();
    this.#pump();
  }

  /** What the cluster shows as Pending now: any other request needs no memory here. */
  cacheShows(unacknowledged: readonly RequestRef[]): void {
    if (this.#written.size === 0 && this.#queue.size === 0) return;
    const pending = new Set(unacknowledged.map(({ uid }) => uid));
    for (const uid of this.#written) if (!pending.has(uid)) this.#written.delete(uid);
    for (const uid of this.#queue.keys()) if (!pending.has(uid)) this.#queue.delete(uid);
  }

  /** Starts nothing more; what runs goes on. */
  close(): void {
    this.#queue.clear();
    this.#failed.close();
  }

  #pump(): void {
    for (const [uid, request] of this.#queue) {
      if (this.#running.size >= this.#context.settings.acknowledgeConcurrency) return;
      this.#queue.delete(uid);
      this.#running.add(uid);
      this.#context.supervisor.watch(this.#run(request));
    }
    if (this.#running.size === 0) this.#endBatch();
  }

  async #run(request: RequestRef): Promise<void> {
    try {
      await this.#write(request);
    } finally {
      this.#running.delete(request.uid);
      this.#pump();
    }
  }

  async #write(request: RequestRef): Promise<void> {
    const { runtime, cluster, settings, metrics, lifetime } = this.#context;
    const deadline = { ms: settings.acknowledgeTimeoutMs, parent: lifetime };
    try {
      const outcome = await runWithDeadline(runtime, deadline, (signal) =>
        cluster.acknowledge(request, signal),
      );
      if (outcome === 'acknowledged') metrics.acknowledged.inc();
      this.#written.add(request.uid);
    } catch (thrown) {
      rethrowBug(thrown);
      if (lifetime.aborted) return;
      const { name: cr, namespace: ns } = request;
      this.#failed.log({ cr, ns, err: asLogValue(thrown) });
    }
  }

  #endBatch(): void {
    const startMs = this.#batchStartMs;
    if (startMs === undefined) return;
    this.#batchStartMs = undefined;
    const nowMs = this.#context.runtime.clock.monotonicMs();
    this.#context.metrics.acknowledgeDuration.observe(durationSeconds(startMs, nowMs));
  }
}
