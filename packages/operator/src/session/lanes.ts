// The handlers behind the two coalescing lanes: a node state or a hint, written to the cluster within
// its deadline. The shard sends a frame once per session, so one that could not be written is tried
// again, with a back-off, until it is written, superseded, or replaced by the replay of a new session.

import {
  Backoff,
  BigFleetError,
  type Random,
  type Runtime,
  runWithDeadline,
  type Timer,
} from '@bigfleet/base';
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
  const handle = async (update: T): Promise<Handled> => {
    try {
      await runWithDeadline(runtime, deadline, (signal) => write(update, signal));
      return 'done';
    } catch (thrown) {
      rethrowBug(thrown);
      if (lifetime.aborted) return 'done';
      dispatchFailed.log({ frame: kind, id: update.supersedesKey, err: asLogValue(thrown) });
      return isInvalid(thrown) ? 'done' : 'failed';
    }
  };
  return new KeyedLane({ kind, runtime, pool, maxKeys: settings.maxWaitingKeys, handle });
}

/** The same frame is refused again, however often it is sent. */
function isInvalid(thrown: unknown): boolean {
  const status = thrown instanceof BigFleetError ? thrown.fields['status'] : undefined;
  return status === 400 || status === 422;
}

/** `failed`: worth another attempt. */
type Handled = 'done' | 'failed';

export interface KeyedLaneOptions<T> {
  readonly kind: WorkKind;
  readonly runtime: Runtime;
  readonly pool: WorkPool;
  /** Keys that wait or run; one more is refused. */
  readonly maxKeys: number;
  /** Logs its own failures. */
  readonly handle: (item: T) => Promise<Handled>;
}

interface Entry<T> {
  pending: T | undefined;
  /** Comes back as pending if it fails; undefined also while a forgotten one runs. */
  running: T | undefined;
  /** Set from the first failure to the next success. */
  backoff: Backoff | undefined;
  /** While the back-off lasts, in which the key has no place in the pool. */
  timer: Timer | undefined;
}

const RETRY = { initialMs: 500, maxMs: 30_000 };

/**
 * The newest frame per key, applied by the pool: `Idle → Configuring → Configured` in quick
 * succession costs one write. At most one handler per key runs, so frames of one machine are
 * applied in arrival order. Whether more is pending and whether the key is done are decided in one
 * synchronous step: a frame that arrives in between would otherwise be lost and its object stranded.
 * A newer frame does not wait for the back-off of an older one.
 */
export class KeyedLane<T extends object> {
  readonly #options: KeyedLaneOptions<T>;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #inFlight = new Set<Promise<Handled>>();
  readonly #random: Random;

  constructor(options: KeyedLaneOptions<T>) {
    this.#options = options;
    this.#random = options.runtime.random.stream(`retry ${options.kind}`);
  }

  push(key: string, item: T): 'accepted' | 'refused' {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.pending = item;
      return known.timer === undefined ? 'accepted' : this.#submit(key, known);
    }
    if (this.#entries.size >= this.#options.maxKeys) return 'refused';
    const entry: Entry<T> = {
      pending: item,
      running: undefined,
      backoff: undefined,
      timer: undefined,
    };
    this.#entries.set(key, entry);
    return this.#submit(key, entry);
  }

  /**
   * Drops what has not begun or waits for another attempt, for a new session: its replay repeats all that
   * still holds, and an old frame applied after the sweep would bring a swept object back. Resolves when
   * what had begun is done.
   */
  async forgetPending(): Promise<void> {
    for (const [key, entry] of this.#entries) {
      entry.pending = undefined;
      entry.running = undefined;
      if (entry.timer === undefined) continue;
      entry.timer.cancel();
      this.#entries.delete(key);
    }
    await Promise.all(this.#inFlight);
  }

  #submit(key: string, entry: Entry<T>): 'accepted' | 'refused' {
    entry.timer?.cancel();
    entry.timer = undefined;
    const task = (): Promise<void> => this.#step(key, entry);
    if (this.#options.pool.submit(this.#options.kind, task) === 'queued') return 'accepted';
    this.#entries.delete(key);
    return 'refused';
  }

  async #step(key: string, entry: Entry<T>): Promise<void> {
    const item = entry.pending;
    entry.pending = undefined;
    entry.running = item;
    const handled = item === undefined ? 'done' : await this.#handle(item);
    if (handled === 'done') entry.backoff = undefined;
    else if (entry.pending === undefined) return this.#retryLater(key, entry);
    if (entry.pending === undefined) this.#entries.delete(key);
    else this.#submit(key, entry);
  }

  #retryLater(key: string, entry: Entry<T>): void {
    entry.pending = entry.running;
    if (entry.pending === undefined) {
      this.#entries.delete(key);
      return;
    }
    entry.backoff ??= new Backoff(this.#random, RETRY);
    const { timers } = this.#options.runtime;
    entry.timer = timers.after(entry.backoff.nextMs(), () => this.#submit(key, entry));
  }

  async #handle(item: T): Promise<Handled> {
    const work = this.#options.handle(item);
    this.#inFlight.add(work);
    try {
      return await work;
    } finally {
      this.#inFlight.delete(work);
    }
  }
}
