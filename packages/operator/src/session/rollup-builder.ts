// One roll-up from the cluster's demand: list, build, encode, with the time of each phase. Tells the
// cluster about requests with a bad profile once per version, not once per interval. Refuses to build
// from anything but a complete list, and refuses a roll-up that the transport could not carry: the
// shard keeps the last good demand in both cases.

import { BigFleetError, describeThrown } from '@bigfleet/base';
import { createSampledMessage, durationSeconds, type SampledMessage } from '@bigfleet/telemetry';
import { type Rollup, encodeRollup } from '../rollup/rollup.ts';
import type { RefusedRequest } from '../rollup/capacity-request.ts';
import type { OperatorContext } from './context.ts';
import { badProfile } from './log-messages.ts';
import type { PendingRollup } from './outbound.ts';

const BAD_PROFILES_PER_SECOND = 10;

export class RollupBuilder {
  readonly #context: OperatorContext;
  readonly #badProfile: SampledMessage<'cr' | 'ns' | 'err', never>;
  /** uid to the version that was reported; holds the refused requests of the last roll-up only. */
  #reported: ReadonlyMap<string, string> = new Map();

  constructor(context: OperatorContext) {
    const { runtime, logger } = context;
    this.#context = context;
    this.#badProfile = createSampledMessage({
      runtime,
      logger,
      message: badProfile,
      perSecond: BAD_PROFILES_PER_SECOND,
    });
  }

  /** Hands the roll-up to `enqueue`. Throws BigFleetError when there is none to send. */
  build(isPeriodic: boolean, enqueue: (rollup: PendingRollup) => void): void {
    const { runtime, clusterId, cluster, metrics, settings } = this.#context;
    const { maxRollupBytes } = settings;
    const startMs = runtime.clock.monotonicMs();
    const demand = cluster.demand();
    if (demand === undefined) {
      throw new BigFleetError('demand_not_synced', 'the CapacityRequests are not listed yet');
    }
    const listedMs = this.#phase('list', startMs);
    const rollup = demand.rollup();
    const bytes = encodeRollup(clusterId, runtime.clock.unixNanos(), rollup.needs);
    const builtMs = this.#phase('build', listedMs);
    this.#count(rollup, bytes.length);
    if (bytes.length > maxRollupBytes) {
      const text = `the roll-up has ${bytes.length} bytes, the limit is ${maxRollupBytes}`;
      throw new BigFleetError('message_too_large', text);
    }
    enqueue({ bytes, unacknowledged: rollup.unacknowledged, isPeriodic });
    const endMs = this.#phase('enqueue', builtMs);
    metrics.rollupDuration.observe(durationSeconds(startMs, endMs));
  }

  close(): void {
    this.#badProfile.close();
  }

  #phase(phase: 'list' | 'build' | 'enqueue', startMs: number): number {
    const nowMs = this.#context.runtime.clock.monotonicMs();
    const seconds = durationSeconds(startMs, nowMs);
    this.#context.metrics.rollupPhaseDuration.labels({ phase }).observe(seconds);
    return nowMs;
  }

  #count({ refused, foreignCount, requestCount }: Rollup, byteCount: number): void {
    const { metrics } = this.#context;
    metrics.rollupBytes.observe(byteCount);
    metrics.capacityRequests.set(requestCount);
    metrics.rollupSkipped.labels({ reason: 'foreign_node' }).inc(foreignCount);
    for (const { refusal } of refused) metrics.rollupSkipped.labels(refusal).inc();
    this.#report(refused);
  }

  #report(refused: readonly RefusedRequest[]): void {
    const before = this.#reported;
    this.#reported = new Map(
      refused.map(({ request: { uid, resourceVersion } }) => [uid, resourceVersion]),
    );
    for (const one of refused) {
      const { uid, resourceVersion, name: cr, namespace: ns } = one.request;
      if (before.get(uid) === resourceVersion) continue;
      this.#badProfile.log({ cr, ns, err: one.refusal.problem });
      this.#context.cluster.requestRefused(one);
    }
  }
}

/** For the log line of a cycle that failed. */
export function rollupFailureText(thrown: unknown): string {
  return thrown instanceof BigFleetError
    ? `${thrown.code}: ${thrown.message}`
    : describeThrown(thrown);
}
