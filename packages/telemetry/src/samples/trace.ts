// Raw duration samples beside the bucketed histograms, because a bucket only says "between b and
// 2b". Recording writes three numbers into a preallocated buffer; a second buffer is being written
// out meanwhile. When the disk is slower than the samples, when the file has reached its bound or a
// write fails, samples are dropped and counted, never queued: measuring must not slow down what it
// measures. Cost per sample: three array writes, no allocation.

import {
  assert,
  BigFleetError,
  type Runtime,
  runWithDeadline,
  type Timer,
  toBigFleetError,
} from '@bigfleet/base';
import type { Counter } from '../metrics/instruments.ts';
import type { MetricRegistry } from '../metrics/registry.ts';
import type { SampleFile } from './file.ts';
import { encodeJson, encodeSamples, FORMAT_VERSION, type SampleColumns } from './format.ts';

export interface SampleSeries {
  /** `startMs` on the monotonic clock of the trace. */
  record(startMs: number, durationSeconds: number): void;
}

export interface SampleTraceOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'timers'>;
  readonly file: SampleFile;
  readonly registry: MetricRegistry;
  /** First failure after success only, so a full disk is one line and not one per second. */
  readonly onError: (error: BigFleetError) => void;
  /** Samples per buffer; two buffers exist. */
  readonly capacity?: number;
  readonly maxBytes?: number;
}

const DEFAULT_CAPACITY = 16_384;
const DEFAULT_MAX_BYTES = 4 * 1024 ** 3;
const FLUSH_EVERY_MS = 1_000;
const CLOSE_WITHIN_MS = 5_000;
const MAX_SERIES = 1_024;

export class SampleTrace {
  readonly #options: Required<SampleTraceOptions>;
  readonly #written: Counter;
  readonly #dropped: Counter;
  readonly #series = new Map<string, SampleSeries>();
  /** Blocks that must precede the next samples: session, new series. Bounded by MAX_SERIES. */
  readonly #preamble: Buffer[] = [];
  #active: SampleBuffer;
  #spare: SampleBuffer;
  #writing: Promise<void> | undefined;
  #timer: Timer | undefined;
  #bytes: number;
  #droppedCount = 0;
  #droppedWritten = 0;
  #failing = false;
  #closed = false;

  constructor(options: SampleTraceOptions) {
    const { capacity = DEFAULT_CAPACITY, maxBytes = DEFAULT_MAX_BYTES } = options;
    this.#options = { ...options, capacity, maxBytes };
    this.#bytes = options.file.initialBytes;
    this.#active = new SampleBuffer(capacity);
    this.#spare = new SampleBuffer(capacity);
    this.#written = options.registry.counter({
      name: 'bigfleet_telemetry_samples_written_total',
      help: 'Raw duration samples written to the trace file.',
    });
    this.#dropped = options.registry.counter({
      name: 'bigfleet_telemetry_samples_dropped_total',
      help: 'Raw duration samples lost: disk too slow, write failed, or file at its bound.',
    });
    const { clock } = options.runtime;
    this.#preamble.push(
      encodeJson('session', {
        version: FORMAT_VERSION,
        unixNanos: String(clock.unixNanos()),
        monotonicMs: clock.monotonicMs(),
      }),
    );
  }

  /** The same name gives the same series. Define at start: at most 1,024. */
  series(name: string): SampleSeries {
    const known = this.#series.get(name);
    if (known !== undefined) return known;
    assert(this.#series.size < MAX_SERIES, 'too many sample series', { name });
    const id = this.#series.size;
    const created: SampleSeries = {
      record: (startMs, durationSeconds) => this.#record(id, startMs, durationSeconds),
    };
    this.#series.set(name, created);
    this.#preamble.push(encodeJson('series', { id, name }));
    return created;
  }

  #record(seriesId: number, startMs: number, durationSeconds: number): void {
    if (this.#closed || (this.#active.count === this.#options.capacity && !this.#swap())) {
      this.#drop(1);
      return;
    }
    this.#active.push(seriesId, startMs, durationSeconds);
    if (this.#timer === undefined) this.#armTimer();
  }

  /** Resolves when everything recorded so far is written or counted as dropped. */
  async flush(): Promise<void> {
    await this.#writing;
    this.#swap();
    await this.#writing;
  }

  /** Flushes within the bound and closes the file; samples after it are dropped. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.cancel();
    await runWithDeadline(this.#options.runtime, { ms: CLOSE_WITHIN_MS }, async () => {
      await this.flush();
      await this.#options.file.close();
    });
  }

  /** Makes room by starting to write the full buffer; false while the other one is being written. */
  #swap(): boolean {
    if (this.#writing !== undefined) return false;
    const full = this.#active;
    this.#active = this.#spare;
    this.#spare = full;
    this.#writing = this.#write(full).finally(() => {
      full.count = 0;
      this.#writing = undefined;
    });
    return true;
  }

  /** Never rejects: what cannot be written is counted and reported. */
  async #write(full: SampleBuffer): Promise<void> {
    // Encoding belongs to a later turn, not to the caller that filled the buffer.
    await this.#options.runtime.timers.turn();
    const preambleCount = this.#preamble.length;
    const droppedCount = this.#droppedCount;
    const block = this.#encode(full);
    if (block.length === 0) return;
    try {
      if (this.#bytes + block.length > this.#options.maxBytes) throw this.#fileFull();
      await this.#options.file.append(block);
      this.#bytes += block.length;
      this.#preamble.splice(0, preambleCount);
      this.#droppedWritten = droppedCount;
      this.#written.inc(full.count);
      this.#failing = false;
    } catch (thrown) {
      this.#drop(full.count);
      if (!this.#failing) this.#options.onError(toBigFleetError(thrown));
      this.#failing = true;
    }
  }

  #encode(full: SampleBuffer): Buffer {
    const parts = [...this.#preamble];
    if (full.count > 0) parts.push(encodeSamples(full));
    if (this.#droppedCount > this.#droppedWritten) {
      parts.push(encodeJson('dropped', { count: this.#droppedCount }));
    }
    return Buffer.concat(parts);
  }

  #fileFull(): BigFleetError {
    return new BigFleetError(
      'sample_trace_failed',
      'the sample file has reached its bound; samples are dropped',
      { fields: { maxBytes: this.#options.maxBytes } },
    );
  }

  #drop(count: number): void {
    this.#droppedCount += count;
    this.#dropped.inc(count);
  }

  #armTimer(): void {
    this.#timer = this.#options.runtime.timers.after(FLUSH_EVERY_MS, () => {
      this.#timer = undefined;
      if (!this.#swap()) this.#armTimer();
    });
  }
}

class SampleBuffer implements SampleColumns {
  readonly startMs: Float64Array;
  readonly seconds: Float64Array;
  readonly seriesIds: Uint32Array;
  count = 0;

  constructor(capacity: number) {
    this.startMs = new Float64Array(capacity);
    this.seconds = new Float64Array(capacity);
    this.seriesIds = new Uint32Array(capacity);
  }

  push(seriesId: number, startMs: number, durationSeconds: number): void {
    const at = this.count++;
    this.startMs[at] = startMs;
    this.seconds[at] = durationSeconds;
    this.seriesIds[at] = seriesId;
  }
}
