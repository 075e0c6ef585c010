// The handlers behind the two coalescing lanes: a node state or a hint, written to the cluster within
// its deadline. A frame that could not be written is logged and left to the next replay; the port has
// retried by then what can be retried.

import { type Runtime, runWithDeadline } from '@bigfleet/base';
import { durationSeconds, type SampledMessage } from '@bigfleet/telemetry';
import type { AvailableCapacityUpdate, NodeStateUpdate } from '@bigfleet/wire';
import type { ClusterPort } from './cluster-port.ts';
import { asLogValue, rethrowBug } from './failure.ts';
import { KeyedLane } from './keyed-lane.ts';
import type { OperatorMetrics } from './metrics.ts';
import type { SessionSettings } from './settings.ts';
import type { WorkKind, WorkPool } from './work-pool.ts';

export interface LaneOptions {
  readonly runtime: Runtime;
  readonly cluster: Pick<ClusterPort, 'applyNodeState' | 'applyAvailableCapacity'>;
  readonly pool: WorkPool;
  readonly settings: Pick<SessionSettings, 'handlerTimeoutMs' | 'maxWaitingKeys'>;
  readonly metrics: Pick<OperatorMetrics, 'nodeStateDuration'>;
  readonly dispatchFailed: SampledMessage<'frame' | 'err', 'machine' | 'id'>;
  /** Ends what runs. */
  readonly lifetime: AbortSignal;
}

/** Keyed by machine id. */
export function nodeStateLane(options: LaneOptions): KeyedLane<NodeStateUpdate> {
  const { runtime, cluster, metrics } = options;
  return lane(options, 'node_state', async (update, signal) => {
    const startMs = runtime.clock.monotonicMs();
    const phase = await cluster.applyNodeState(update, signal);
    const seconds = durationSeconds(startMs, runtime.clock.monotonicMs());
    metrics.nodeStateDuration.labels({ phase }).observe(seconds);
  });
}

/** Keyed by `supersedes_key`. */
export function hintLane(options: LaneOptions): KeyedLane<AvailableCapacityUpdate> {
  return lane(options, 'available_capacity', (update, signal) =>
    options.cluster.applyAvailableCapacity(update, signal),
  );
}

function lane<T extends NodeStateUpdate | AvailableCapacityUpdate>(
  options: LaneOptions,
  kind: WorkKind,
  write: (update: T, signal: AbortSignal) => Promise<void>,
): KeyedLane<T> {
  const { runtime, pool, settings, lifetime, dispatchFailed } = options;
  const deadline = { ms: settings.handlerTimeoutMs, parent: lifetime };
  const handle = async (update: T): Promise<void> => {
    try {
      await runWithDeadline(runtime, deadline, (signal) => write(update, signal));
    } catch (thrown) {
      rethrowBug(thrown);
      if (lifetime.aborted) return;
      dispatchFailed.log({ frame: kind, id: update.supersedesKey, err: asLogValue(thrown) });
    }
  };
  return new KeyedLane({ kind, pool, maxKeys: settings.maxWaitingKeys, handle });
}
