// All open streams. Decisions and cycles go into the ring and from there to every stream in order; views are
// refreshed by one timer, which stands still while nobody watches.

import type { Runtime, Timer } from '@bigfleet/base';
import type { ModelEvent, Fleet } from '../../model/index.ts';
import type { ViewAnswers } from '../views/view-answers.ts';
import { EventRing, RING_LIMITS, type RingLimits, sseFrame } from './event-ring.ts';
import { StreamReader, type StreamSink } from './stream-reader.ts';
import { WatchedView } from './watched-view.ts';

export interface HubOptions {
  readonly runtime: Runtime;
  readonly fleet: Pick<Fleet, 'subscribe'>;
  readonly answers: ViewAnswers;
  /** Of this build. */
  readonly version: string;
  readonly maxStreams: number;
  readonly ring?: RingLimits;
  readonly onEvent?: (name: ModelEvent['name']) => void;
  readonly onReset?: () => void;
  /** A view threw: a bug, which takes the way of all bugs. */
  readonly onBug: (bug: unknown) => void;
}

export interface StreamAsk {
  /** `now`, `decisions?cluster=a`; without repetition. */
  readonly views: readonly string[];
  readonly after: string | undefined;
  readonly hasCells: boolean;
}

export interface OpenStream {
  /** The socket has taken everything that was written. */
  drained(): void;
  close(): void;
}

const TICK_MS = 125;
const BEAT_MS = 1_000;
const INCARNATION_BYTES = 8;

export class StreamHub {
  readonly #options: HubOptions;
  readonly #ring: EventRing;
  readonly #readers = new Set<StreamReader>();
  /** By text; those that some stream shows. */
  readonly #views = new Map<string, WatchedView>();
  readonly #unsubscribe: () => void;
  #timer: Timer | undefined;
  #isWaking = false;
  #isClosed = false;

  constructor(options: HubOptions) {
    const { runtime, fleet } = options;
    this.#options = options;
    const incarnation = Buffer.from(runtime.entropy.bytes(INCARNATION_BYTES)).toString('hex');
    this.#ring = new EventRing(incarnation, options.ring ?? RING_LIMITS);
    this.#unsubscribe = fleet.subscribe((event) => this.#take(event));
  }

  get size(): number {
    return this.#readers.size;
  }

  get ringChars(): number {
    return this.#ring.chars;
  }

  /** Undefined when as many are open as may be, or at the end. */
  open(ask: StreamAsk, sink: StreamSink): OpenStream | undefined {
    const { runtime, version, maxStreams, onReset = () => {} } = this.#options;
    if (this.#isClosed || this.#readers.size >= maxStreams) return undefined;
    const { after, hasCells } = ask;
    const ring = this.#ring;
    const { clock } = runtime;
    const reader = new StreamReader({ clock, ring, sink, version, hasCells, after, onReset });
    this.#readers.add(reader);
    const views = ask.views.map((text) => this.#viewOf(text));
    for (const view of views) view.readers.add(reader);
    this.#refresh(views);
    this.#schedule();
    return {
      drained: () => {
        reader.drained();
        this.#refresh(views);
      },
      close: () => this.#close(reader, views),
    };
  }

  /** Ends every stream: their browsers come back when the process does. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    this.#timer?.cancel();
    for (const reader of this.#readers) reader.end();
    // An answer on its way finds nobody to show it to.
    for (const view of this.#views.values()) view.readers.clear();
    this.#readers.clear();
    this.#views.clear();
  }

  #take(event: ModelEvent): void {
    this.#options.onEvent?.(event.name);
    if (event.name === 'decision' || event.name === 'cycle') {
      this.#ring.append(event.name, event.data);
      this.#wakeSoon();
      return;
    }
    if (this.#readers.size === 0) return;
    const frame = sseFrame({ event: event.name, data: event.data });
    for (const reader of this.#readers) {
      if (event.name === 'source') reader.tellSource(event.data, frame);
      else reader.tellCells(frame);
    }
  }

  /** A cycle tells many events in one turn: they are one write to each stream. */
  #wakeSoon(): void {
    if (this.#isWaking) return;
    this.#isWaking = true;
    queueMicrotask(() => {
      this.#isWaking = false;
      for (const reader of this.#readers) reader.wake();
    });
  }

  #viewOf(text: string): WatchedView {
    const known = this.#views.get(text);
    if (known !== undefined) return known;
    const view = new WatchedView(text, this.#options.answers, this.#options.runtime.clock);
    this.#views.set(text, view);
    return view;
  }

  #close(reader: StreamReader, views: readonly WatchedView[]): void {
    // A connection may end twice, by an error and by its close: by then its views may be those of others.
    if (!this.#readers.delete(reader)) return;
    for (const view of views) {
      view.readers.delete(reader);
      if (view.readers.size === 0) this.#views.delete(view.text);
    }
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#isClosed || this.#readers.size === 0) return;
    this.#timer = this.#options.runtime.timers.after(TICK_MS, () => {
      this.#timer = undefined;
      this.#refresh(this.#views.values());
      for (const reader of this.#readers) reader.beatAfter(BEAT_MS);
      this.#schedule();
    });
  }

  #refresh(views: Iterable<WatchedView>): void {
    for (const view of views) view.refresh().catch(this.#options.onBug);
  }
}
