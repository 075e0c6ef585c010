// One open stream: a place in the ring of events, and what it has been shown of each view. A reader whose
// socket does not drain is written nothing; it keeps no queue, so a throttled browser costs the same as an
// idle one. When it drains, it goes on from its place, or, when the ring has moved past it, is told so
// with `reset` and shown every view anew.

import type { Clock } from '@bigfleet/base';
import type { Source } from '../../api/index.ts';
import { type EventRing, sseFrame } from './event-ring.ts';

export interface StreamSink {
  /** False: it waits in the socket. Nothing more is written before `drained`. */
  write(text: string): boolean;
  end(): void;
}

export interface ReaderOptions {
  readonly clock: Clock;
  readonly ring: EventRing;
  readonly sink: StreamSink;
  readonly version: string;
  readonly hasCells: boolean;
  /** As asked: the header or the parameter; undefined starts from now. */
  readonly after: string | undefined;
  readonly onReset: () => void;
}

/** Characters of events that are handed to the socket at once. */
const BATCH_CHARS = 65_536;
const RETRY_MS = 1_000;
const OVERFLOW = { shard: '', changed: [], removed: [], isOverflow: true };

export class StreamReader {
  readonly hasCells: boolean;
  readonly #options: ReaderOptions;
  /** Number of the last event that was written. */
  #place: number;
  #isBlocked = false;
  #lastWriteMs = 0;
  /** By view text, the publication that was written last; none is 0. */
  readonly #shown = new Map<string, number>();
  /** Changed while it was blocked, by name; bound: one per source. */
  readonly #sources = new Map<string, Source>();
  #hasMissedCells = false;

  constructor(options: ReaderOptions) {
    const { ring, after, version } = options;
    this.#options = options;
    this.hasCells = options.hasCells;
    const place = after === undefined ? undefined : ring.placeOf(after);
    this.#place = place ?? ring.newest;
    const id = ring.idOf(this.#place);
    const data = { id, isResumed: place !== undefined, version, nowMs: this.#nowUnixMs() };
    this.#write(`retry: ${RETRY_MS}\n${sseFrame({ id, event: 'hello', data })}`);
    if (after !== undefined && place === undefined) this.#reset();
    this.#flush();
  }

  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** The ring has grown. */
  wake(): void {
    this.#flush();
  }

  /** The socket has taken everything. */
  drained(): void {
    this.#isBlocked = false;
    this.#flush();
  }

  tellSource(source: Source, frame: string): void {
    if (this.#isBlocked) this.#sources.set(`${source.kind} ${source.name}`, source);
    else this.#write(frame);
  }

  tellCells(frame: string): void {
    if (!this.hasCells) return;
    if (this.#isBlocked) this.#hasMissedCells = true;
    else this.#write(frame);
  }

  isShown(view: string, publication: number): boolean {
    return this.#shown.get(view) === publication;
  }

  /** Not while it is blocked: the publication that is newest when it drains is the one that counts. */
  show(view: string, publication: number, frame: string): void {
    if (this.#isBlocked) return;
    this.#shown.set(view, publication);
    this.#write(frame);
  }

  beatAfter(silenceMs: number): void {
    if (this.#isBlocked) return;
    const { clock } = this.#options;
    if (clock.monotonicMs() - this.#lastWriteMs < silenceMs) return;
    this.#write(sseFrame({ event: 'beat', data: { nowMs: this.#nowUnixMs() } }));
  }

  end(): void {
    this.#options.sink.end();
  }

  #flush(): void {
    const { ring } = this.#options;
    while (!this.#isBlocked) {
      if (!ring.holds(this.#place)) this.#reset();
      else if (this.#place < ring.newest) this.#writeEvents();
      else if (this.#sources.size > 0) this.#writeSource();
      else if (this.#hasMissedCells) this.#writeOverflow();
      else return;
    }
  }

  #reset(): void {
    const { ring, onReset } = this.#options;
    this.#place = ring.newest;
    this.#shown.clear();
    const id = ring.idOf(this.#place);
    this.#write(sseFrame({ id, event: 'reset', data: { id } }));
    onReset();
  }

  #writeEvents(): void {
    const { ring } = this.#options;
    const frames: string[] = [];
    for (let chars = 0; this.#place < ring.newest && chars < BATCH_CHARS; ) {
      this.#place += 1;
      const frame = ring.frame(this.#place);
      frames.push(frame);
      chars += frame.length;
    }
    this.#write(frames.join(''));
  }

  #writeSource(): void {
    for (const [name, source] of this.#sources) {
      this.#sources.delete(name);
      this.#write(sseFrame({ event: 'source', data: source }));
      return;
    }
  }

  #writeOverflow(): void {
    this.#hasMissedCells = false;
    this.#write(sseFrame({ event: 'cells', data: OVERFLOW }));
  }

  #write(text: string): void {
    const { clock, sink } = this.#options;
    this.#lastWriteMs = clock.monotonicMs();
    if (!sink.write(text)) this.#isBlocked = true;
  }

  #nowUnixMs(): number {
    return Number(this.#options.clock.unixNanos() / 1_000_000n);
  }
}
