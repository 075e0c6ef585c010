// What a running shard shows its readers, kept up to date by what it hears: every machine write,
// every ended cycle, every finished action. All of these calls return at once; readers are served
// from here, from the live fleet and from the record files, and none of them holds up a cycle.

import type { Runtime } from '@bigfleet/base';
import { type ActionKindCode, actionKindName, type Shortfall } from '@bigfleet/engine';
import type { CycleReport } from '../core/observer.ts';
import type { Disposition } from '../cycle/dispose.ts';
import type { CycleAnswer, DecidedActions } from '../engine-host/answer.ts';
import type { EngineHost } from '../engine-host/engine-host.ts';
import type { ActionOrder } from '../execute/execution.ts';
import type { StoredRecord } from '../records/segment-format.ts';
import { CycleTimes } from './cycle-times.ts';
import { Feed, type FeedOptions } from './feed/feed.ts';
import { type MachineNotes, MachineViews } from './machine-view.ts';
import { RecordTail } from './record-tail.ts';
import { dollarsPerHour } from './shard-status.ts';
import { StateTimes } from './state-times.ts';
import { encodeRecordFrames } from './wire-init.ts';

/** The pool takes a few hundred at most; a cycle may decide half a million. */
const ACTIONS_LOOKED_AT = 5_000;

export interface ShardReadingOptions extends Omit<FeedOptions, 'views'> {
  readonly runtime: Runtime;
  readonly host: EngineHost;
  readonly notes: MachineNotes;
}

export class ShardReading {
  readonly cycles: CycleTimes = new CycleTimes();
  readonly views: MachineViews;
  readonly feed: Feed;
  readonly tail: RecordTail = new RecordTail();
  readonly #options: ShardReadingOptions;
  readonly #stateTimes: StateTimes;
  #shortfalls: ReadonlyMap<string, Shortfall> = new Map();
  #needRowCount = 0;

  constructor(options: ShardReadingOptions) {
    const { runtime, fleet, notes, host } = options;
    const { clock } = runtime;
    this.#options = options;
    this.#stateTimes = new StateTimes(clock);
    this.views = new MachineViews({ fleet, clock, times: this.#stateTimes, notes });
    this.feed = new Feed({ ...options, views: this.views });
    host.onMachineWrite((machineId) => this.#written(machineId));
  }

  /** Of the last cycle, by fingerprint; never changed, replaced by the next. */
  get shortfalls(): ReadonlyMap<string, Shortfall> {
    return this.#shortfalls;
  }

  /** Of the last cycle. */
  get needRowCount(): number {
    return this.#needRowCount;
  }

  cycleEnded({ answer, disposition, dispositions }: CycleReport): void {
    const { runtime, fleet } = this.#options;
    const atUnixNanos = runtime.clock.unixNanos();
    this.cycles.note(answer.cycle, atUnixNanos);
    this.#shortfalls = answer.shortfalls;
    this.#needRowCount = answer.rowCount;
    this.#noteOrders(answer.actions);
    const record = this.#recordOf(answer, dispositions, atUnixNanos);
    if (record !== undefined) this.tail.append(record);
    this.feed.cycleEnded({
      cycle: answer.cycle,
      atUnixNanos,
      actions: countsByKind(disposition),
      shortfallCount: answer.shortfalls.size,
      dollarsPerHour: dollarsPerHour(fleet),
      records: record === undefined ? [] : encodeRecordFrames(record),
    });
  }

  /** No action is under way here for the machine any more, unless a drain waits. */
  released({ handle, machineId }: ActionOrder): void {
    this.views.noteDone(handle.slot);
    this.feed.written(machineId);
  }

  /** Every stream ends. */
  stop(): void {
    this.feed.stop();
    this.tail.close();
  }

  #written(machineId: string): void {
    const { fleet } = this.#options;
    const slot = fleet.inventory.slotOf(machineId);
    if (slot >= 0) this.#stateTimes.note(fleet, slot);
    this.feed.written(machineId);
  }

  /** A queued action shows at its machine before anything is written. */
  #noteOrders({ count, kind, slot }: DecidedActions): void {
    const { fleet } = this.#options;
    let noted = 0;
    for (let at = 0; at < Math.min(count, ACTIONS_LOOKED_AT); at++) {
      if (noted >= fleet.pendingCount) return;
      const row = slot[at]!;
      if (fleet.pendingOf(row) === 'none') continue;
      noted += 1;
      this.views.noteOrdered(row, kind[at] as ActionKindCode);
      this.feed.written(fleet.known.idOf(row));
    }
  }

  #recordOf(
    { record, cycle, actionHash }: CycleAnswer,
    dispositions: Uint8Array,
    atUnixNanos: bigint,
  ): StoredRecord | undefined {
    if (record.length === 0) return undefined;
    return {
      epoch: this.#options.epoch,
      cycle: BigInt(cycle),
      atUnixNanos,
      actionHash: Buffer.from(actionHash, 'hex'),
      payload: record,
      dispositions,
    };
  }
}

/** What passed the rails. */
function countsByKind({ emitted }: Disposition): Record<string, number> {
  const counts = Object.entries(emitted).filter(([, count]) => count > 0);
  return Object.fromEntries(counts.map(([kind, count]) => [actionKindName(Number(kind)), count]));
}
