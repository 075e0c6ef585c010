// The live feed: after every cycle one delta, built once for all readers, beside the cycle and never
// in its way. Nothing is built while nobody watches: the last reader's cursor is worth something for
// 256 cycles, and so long the deltas go on.
//
// Rows are read from the live fleet while a delta is built, a slice at a time; a machine that is
// written meanwhile is in the next delta again. So what a reader holds differs from the fleet only
// in machines that were written since, and not at all once nothing is written.

import { BigFleetError, type Runtime } from '@bigfleet/base';
import type { Counter, Gauge, MetricRegistry } from '@bigfleet/telemetry';
import type { EngineHost } from '../../engine-host/engine-host.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { MachineViews } from '../machine-view.ts';
import { ChangeLog } from './change-log.ts';
import { type CycleFacts, type MachineChange, mergeChanges, rowBytesOf } from './cycle-changes.ts';
import { NeedMirror } from './need-mirror.ts';
import { FeedReader } from './reader.ts';
import type { Selection } from './selection.ts';

const MAX_READERS = 32;
const MAX_BEHIND_DELTAS = 64;
const MAX_BEHIND_BYTES: number = 1 << 24;
/** As long as a cursor can be of use. */
const IDLE_CYCLES = 256;
const ROWS_PER_TURN = 200;

export interface FeedOptions {
  readonly runtime: Pick<Runtime, 'timers'>;
  readonly epoch: bigint;
  readonly host: Pick<EngineHost, 'needChanges'>;
  readonly fleet: Fleet;
  readonly views: MachineViews;
  readonly registry: MetricRegistry;
  /** Takes over background work; its rejection ends the process. */
  readonly supervise: (component: string, work: Promise<void>) => void;
}

export interface EndedCycle extends CycleFacts {
  /** RecordFrames: one, or none. */
  readonly records: readonly Uint8Array[];
}

export class Feed {
  readonly log: ChangeLog;
  readonly needs: NeedMirror;
  readonly #options: FeedOptions;
  readonly #readers = new Set<FeedReader>();
  readonly #readerCount: Gauge;
  readonly #lagged: Counter;
  /** Written since the last delta began; one entry per machine at most. */
  #written = new Set<string>();
  #waiting: EndedCycle[] = [];
  #isBuilding = false;
  /** The log starts anew from here when the build that runs has ended. */
  #restartAt: number | undefined;
  #idleCycles = IDLE_CYCLES;
  #needlessCycles = IDLE_CYCLES;
  #isClosed = false;
  #needsFromCycle = 0;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.log = new ChangeLog(options.epoch);
    this.needs = new NeedMirror(options.host);
    this.#readerCount = options.registry.gauge({
      name: 'bigfleet_shard_feed_readers',
      help: 'Readers of the live feed.',
    });
    this.#lagged = options.registry.counter({
      name: 'bigfleet_shard_feed_lagged_total',
      help: 'Times that a reader of the live feed fell behind and went on with a snapshot.',
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  open(selection: Selection): FeedReader {
    if (this.#isClosed) throw new BigFleetError('unavailable', 'the shard is stopping');
    if (this.#readers.size >= MAX_READERS) {
      throw new BigFleetError('feed_readers_exceeded', `${MAX_READERS} readers watch this shard`);
    }
    const reader = new FeedReader(selection, this.log.newestCycle);
    this.#readers.add(reader);
    this.#idleCycles = 0;
    if (selection.hasNeeds) this.#needlessCycles = 0;
    this.#readerCount.set(this.#readers.size);
    return reader;
  }

  close(reader: FeedReader): void {
    this.#readers.delete(reader);
    this.#readerCount.set(this.#readers.size);
  }

  /** Deltas after this cycle hold the needs. */
  get needsFromCycle(): number {
    return this.#needsFromCycle;
  }

  async startNeeds(): Promise<void> {
    if (this.needs.isLive) return;
    await this.needs.start();
    this.#needsFromCycle = this.log.newestCycle;
  }

  /** A machine was written. */
  written(machineId: string): void {
    if (this.#isFollowed) this.#written.add(machineId);
  }

  /** Returns at once; the delta follows. */
  cycleEnded(ended: EndedCycle): void {
    this.#countIdle();
    if (!this.#isFollowed) {
      this.#forget(ended.cycle);
      return;
    }
    if (this.#needlessCycles >= IDLE_CYCLES) this.needs.drop();
    // A build that cannot keep up merges cycles; it does not queue them.
    this.#waiting = [...this.#waiting, ended].slice(-IDLE_CYCLES);
    if (this.#isBuilding) return;
    this.#isBuilding = true;
    this.#options.supervise('live feed', this.#buildAll());
  }

  /** What is not followed cannot be resumed. */
  #forget(cycle: number): void {
    this.#written.clear();
    this.#waiting = [];
    this.needs.drop();
    this.#restartAt = cycle;
    if (!this.#isBuilding) this.#restartLog();
  }

  #restartLog(): void {
    if (this.#restartAt !== undefined) this.log.restart(this.#restartAt);
    this.#restartAt = undefined;
  }

  /** Every stream ends. */
  stop(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) reader.wake();
  }

  get #isFollowed(): boolean {
    return this.#idleCycles < IDLE_CYCLES;
  }

  #countIdle(): void {
    const readers = [...this.#readers];
    this.#idleCycles = readers.length > 0 ? 0 : this.#idleCycles + 1;
    const hasNeeds = readers.some(({ selection }) => selection.hasNeeds);
    this.#needlessCycles = hasNeeds ? 0 : this.#needlessCycles + 1;
  }

  async #buildAll(): Promise<void> {
    try {
      while (this.#waiting.length > 0) await this.#build(this.#waiting.splice(0));
    } finally {
      this.#isBuilding = false;
      this.#restartLog();
    }
  }

  async #build(cycles: readonly EndedCycle[]): Promise<void> {
    const ids = this.#written;
    this.#written = new Set();
    const machines = await this.#machineChanges(ids);
    const needs = this.needs.isLive ? await this.needs.update() : [];
    const merged = mergeChanges(
      cycles.map((ended) => ({ ...ended, machines: [], needs: [], rowBytes: 0 })),
    );
    if (merged === undefined) return;
    const rowBytes = rowBytesOf(machines, needs);
    this.log.append({ ...merged, machines, needs, rowBytes });
    this.#publish();
  }

  async #machineChanges(ids: ReadonlySet<string>): Promise<MachineChange[]> {
    const changes: MachineChange[] = [];
    for (const id of ids) {
      if (changes.length % ROWS_PER_TURN === ROWS_PER_TURN - 1) {
        await this.#options.runtime.timers.turn();
      }
      changes.push(this.#machineChange(id));
    }
    return changes;
  }

  #machineChange(id: string): MachineChange {
    const { fleet, views } = this.#options;
    const slot = fleet.inventory.slotOf(id);
    if (slot < 0) return { id, cluster: '', bytes: undefined };
    const cluster = fleet.known.clusterOf(slot);
    return { id, cluster, bytes: views.encoded(slot) };
  }

  #publish(): void {
    for (const reader of this.#readers) {
      if (!reader.isLagged && this.#isTooFarBehind(reader)) {
        reader.isLagged = true;
        this.#lagged.inc();
      }
      reader.wake();
    }
  }

  #isTooFarBehind({ cycle, selection, isInSnapshot }: FeedReader): boolean {
    if (!this.log.holds(cycle)) return true;
    if (isInSnapshot) return false;
    const { deltaCount, bytes } = this.log.behind(cycle, selection.hasRecords);
    // Who asked for fewer frames gets them merged: it is behind by its own wish.
    const maxDeltas = selection.minIntervalMs > 0 ? Number.POSITIVE_INFINITY : MAX_BEHIND_DELTAS;
    return deltaCount > maxDeltas || bytes > MAX_BEHIND_BYTES;
  }
}
