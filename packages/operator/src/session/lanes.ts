// The handlers behind the two coalescing lanes: a node state or a hint, written to the cluster within
// its deadline. A frame that could not be written is logged and left to the next replay; the port has
// retried by then what can be retried.

import { runWithDeadline } from '@bigfleet/base';
import { type SampledMessage, durationSeconds } from '@bigfleet/telemetry';
import type { AvailableCapacityUpdate, NodeStateUpdate } from '@bigfleet/wire';
import type { BoundContext } from './context.ts';
import { asLogValue, rethrowBug } from './supervisor.ts';
import type { WorkKind, WorkPool } from './work-pool.ts';

export interface LaneOptions extends BoundContext {
  readonly pool: WorkPool;
  readonly dispatchFailed: SampledMessage<'frame' | 'err', 'machine' | 'id'>;
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

export interface KeyedLaneOptions<T> {
  readonly kind: WorkKind;
  readonly pool: WorkPool;
  /** Keys that wait or run; one more is refused. */
  readonly maxKeys: number;
  /** Handles its own failures. */
  readonly handle: (item: T) => Promise<void>;
}

interface Entry<T> {
  pending: T | undefined;
}

/**
 * The newest frame per key, applied by the pool: `Idle → Configuring → Configured` in quick
 * succession costs one write. At most one handler per key runs, so frames of one machine are
 * applied in arrival order. Whether more is pending and whether the key is done are decided in one
 * synchronous step: a frame that arrives in between would otherwise be lost and its object stranded.
 */
export class KeyedLane<T extends object> {
  readonly #options: KeyedLaneOptions<T>;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #inFlight = new Set<Promise<void>>();

  constructor(options: KeyedLaneOptions<T>) {
    this.#options = options;
  }

  push(key: string, item: T): 'accepted' | 'refused' {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.pending = item;
      return 'accepted';
    }
    if (this.#entries.size >= this.#options.maxKeys) return 'refused';
    const entry: Entry<T> = { pending: item };
    this.#entries.set(key, entry);
    return this.#submit(key, entry);
  }

  /**
   * Drops what has not begun, for a new session: its replay repeats all that still holds, and an old
   * frame applied after the sweep would bring a swept object back. Resolves when what had begun is
   * done.
   */
  async forgetPending(): Promise<void> {
    for (const entry of this.#entries.values()) entry.pending = undefined;
    await Promise.all(this.#inFlight);
  }

  #submit(key: string, entry: Entry<T>): 'accepted' | 'refused' {
    const task = (): Promise<void> => this.#step(key, entry);
    if (this.#options.pool.submit(this.#options.kind, task) === 'queued') return 'accepted';
    this.#entries.delete(key);
    return 'refused';
  }

  async #step(key: string, entry: Entry<T>): Promise<void> {
    const item = entry.pending;
    entry.pending = undefined;
    if (item !== undefined) await this.#handle(item);
    if (entry.pending === undefined) this.#entries.delete(key);
    else this.#submit(key, entry);
  }

  async #handle(item: T): Promise<void> {
    const work = this.#options.handle(item);
    this.#inFlight.add(work);
    try {
      await work;
    } finally {
      this.#inFlight.delete(work);
    }
  }
}
