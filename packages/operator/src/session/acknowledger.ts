// Moves confirmed requests to Acknowledged, beside the roll-up loop and never in it: ten thousand
// patches take longer than an interval. Confirmed requests are written in passes: a pass takes the
// newest confirmation there is, whole and in its order, and the next one begins when it is through,
// so that requests whose writes keep failing cannot hold up the others. Before its turn a request is
// looked up in the cluster's cache, and left out when it is gone or no longer Pending. One that was
// written here is remembered until the cache shows it, or every pass would write it again.
//
// A confirmation costs nothing per request: in a cluster that is new here a hundred thousand of them
// are confirmed at every interval, in the event loop that also answers bootstraps.

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
  /** What is left of the pass that is being written. */
  #pass: Iterator<RequestRef> = emptyPass();
  /** The newest confirmation, if it came after this pass began. */
  #next: readonly RequestRef[] | undefined;
  readonly #running = new Set<string>();
  /** Bounded by the writes that the cluster's cache does not show yet. */
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

  /** Holds every request of earlier confirmations that is still Pending. */
  acknowledge(requests: readonly RequestRef[]): void {
    this.#next = requests;
    this.#pump();
  }

  /** Forgets what the cluster's cache shows by now. */
  cacheMoved(): void {
    for (const uid of this.#written) if (!this.#isPending(uid)) this.#written.delete(uid);
  }

  /** Starts nothing more; what runs goes on. */
  close(): void {
    this.#pass = emptyPass();
    this.#next = undefined;
    this.#failed.close();
  }

  #pump(): void {
    const { runtime, settings, supervisor } = this.#context;
    while (this.#running.size < settings.acknowledgeConcurrency) {
      const request = this.#take();
      if (request === undefined) break;
      this.#batchStartMs ??= runtime.clock.monotonicMs();
      this.#running.add(request.uid);
      supervisor.watch(this.#run(request));
    }
    if (this.#running.size === 0) this.#endBatch();
  }

  #take(): RequestRef | undefined {
    for (;;) {
      const step = this.#pass.next();
      if (step.done !== true) {
        if (this.#isDue(step.value.uid)) return step.value;
      } else if (this.#next === undefined) {
        return undefined;
      } else {
        this.#pass = this.#next.values();
        this.#next = undefined;
      }
    }
  }

  #isDue(uid: string): boolean {
    return !this.#running.has(uid) && !this.#written.has(uid) && this.#isPending(uid);
  }

  #isPending(uid: string): boolean {
    return this.#context.cluster.demand()?.isUnacknowledged(uid) === true;
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

function emptyPass(): Iterator<RequestRef> {
  return [].values();
}
