// Writes decision records and the trace of the inputs to segments on disk, oldest dropped first,
// both together within one bound of bytes. Off the hot path: a cycle hands over and goes on. What
// waits is bounded too; beyond the bound, and when the disk fails, it is dropped and counted, and
// the shard lives on.
//
// A trace ends at its share of the bound, and the next one begins with the whole state. When even
// that beginning takes too much of the bound, traces are given up and records go on.

import { BigFleetError, BoundedQueue, type Clock } from '@bigfleet/base';
import type { TracePart } from '../engine-host/trace-parts.ts';
import { encodeFrames } from './segment-format.ts';
import type { SegmentFiles, SegmentKind } from './segment-files.ts';
import { SegmentStore } from './segment-store.ts';
import { TraceTrack } from './trace-track.ts';

/** One segment is dropped at a time, so it is a small part of the whole. */
const SEGMENTS_AT_LEAST = 8;
const MAX_SEGMENT_BYTES: number = 1 << 26;
const WAITING_MAX = 64;
/** Of the bound: where a trace ends and the next begins, and what a beginning may take. */
const TRACE_SHARE = 4;
const TRACE_START_SHARE = 8;

export interface RecordWriterOptions {
  readonly files: SegmentFiles;
  readonly clock: Clock;
  readonly epoch: bigint;
  /** Records and traces together; 0 keeps nothing. */
  readonly maxBytes: number;
  /** A disk that refuses, or a trace that was given up; told once per failure. */
  readonly onError: (error: unknown) => void;
  /** Asks the engine to start its trace anew; without it there are no traces. */
  readonly rotateTrace?: () => void;
}

export interface DecidedCycle {
  readonly cycle: number;
  readonly record: Uint8Array;
  /** Beside the record, never without one; empty when there is nothing to say. */
  readonly dispositions: Uint8Array;
  /** 32 hex digits. */
  readonly actionHash: string;
  readonly trace: readonly TracePart[];
}

type Job =
  | { readonly kind: 'records'; readonly bytes: Uint8Array }
  | {
      readonly kind: 'trace';
      readonly bytes: Uint8Array;
      readonly isStart: boolean;
      readonly number: number;
    };

export class RecordWriter {
  readonly #options: RecordWriterOptions;
  readonly #store: SegmentStore;
  readonly #track: TraceTrack;
  readonly #segmentBytes: number;
  readonly #waiting: BoundedQueue<Job> = new BoundedQueue(WAITING_MAX);
  #droppedCount = 0;
  #work: Promise<void> | undefined;

  constructor(options: RecordWriterOptions) {
    const { clock, maxBytes, rotateTrace } = options;
    this.#options = options;
    this.#store = new SegmentStore(options);
    this.#track = new TraceTrack(clock, rotateTrace);
    this.#segmentBytes = Math.min(MAX_SEGMENT_BYTES, maxBytes / SEGMENTS_AT_LEAST);
  }

  /** Records and parts of traces that never reached the disk. */
  get droppedCount(): number {
    return this.#droppedCount + this.#waiting.refusedCount;
  }

  /** In the directory, what earlier processes left included. */
  get storedBytes(): number {
    return this.#store.bytes;
  }

  append(decided: DecidedCycle): void {
    if (this.#options.maxBytes <= 0) return;
    if (decided.record.length > 0) {
      this.#enqueue({ kind: 'records', bytes: this.#frames(decided) });
    }
    for (const { isStart, bytes } of decided.trace) {
      const number = this.#track.admit(isStart);
      if (number === undefined) continue;
      if (!this.#enqueue({ kind: 'trace', bytes, isStart, number })) this.#track.broke(number);
    }
    this.#track.heal();
  }

  /** Everything handed over so far is written or dropped. */
  async flush(): Promise<void> {
    while (this.#work !== undefined) await this.#work;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#end('records');
    await this.#end('trace');
  }

  #frames({ cycle, record, dispositions, actionHash }: DecidedCycle): Uint8Array {
    return encodeFrames({
      cycle: BigInt(cycle),
      atUnixNanos: this.#options.clock.unixNanos(),
      actionHash: Buffer.from(actionHash, 'hex'),
      payload: record,
      dispositions,
    });
  }

  #enqueue(job: Job): boolean {
    const isQueued = this.#waiting.push(job) === 'queued';
    this.#work ??= this.#drain().finally(() => (this.#work = undefined));
    return isQueued;
  }

  async #drain(): Promise<void> {
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) {
      try {
        const isWritten = await this.#write(job);
        if (!isWritten) this.#lose(job);
      } catch (error) {
        this.#lose(job);
        this.#options.onError(error);
        await this.#end(job.kind);
      }
    }
  }

  #lose(job: Job): void {
    this.#droppedCount += 1;
    if (job.kind === 'trace') this.#track.broke(job.number);
  }

  #write(job: Job): Promise<boolean> {
    return job.kind === 'trace' ? this.#writeTrace(job) : this.#writeRecord(job.bytes);
  }

  async #writeRecord(bytes: Uint8Array): Promise<boolean> {
    const open = this.#store.openBytes('records');
    if (open === undefined || open >= this.#segmentBytes) await this.#store.begin('records');
    return this.#store.append('records', bytes);
  }

  async #writeTrace({ bytes, isStart, number }: Extract<Job, { kind: 'trace' }>): Promise<boolean> {
    const { maxBytes } = this.#options;
    if (isStart && bytes.length > maxBytes / TRACE_START_SHARE) {
      this.#giveUp(bytes.length);
      return false;
    }
    if (isStart) await this.#store.begin('trace');
    const isWritten = await this.#store.append('trace', bytes);
    if (!isWritten) await this.#end('trace');
    else if ((this.#store.openBytes('trace') ?? 0) >= maxBytes / TRACE_SHARE) {
      this.#track.full(number);
    }
    return isWritten;
  }

  #giveUp(startBytes: number): void {
    this.#track.giveUp();
    const { maxBytes, onError } = this.#options;
    const text = `a trace begins with ${startBytes} bytes, the bound is ${maxBytes} bytes`;
    onError(new BigFleetError('trace_too_large', text));
  }

  async #end(kind: SegmentKind): Promise<void> {
    try {
      await this.#store.end(kind);
    } catch (error) {
      this.#options.onError(error);
    }
  }
}
