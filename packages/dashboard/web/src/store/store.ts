// Everything that the pages show, in one place outside of React. Views that somebody looks at are wanted
// from the stream; those of a recorded moment are asked once. Changes are told at most once per animation
// frame, and nothing here grows with time: the newest answer per view, and bounded rings of events.

import type { Runtime, Timer } from '@bigfleet/base';
import type { Decision, Frame } from '../../../src/api/common.ts';
import type { CellsEvent, Problem } from '../../../src/api/stream.ts';
import type { DataSource, LiveEvent, LiveStream, StreamState } from './source.ts';

/** Events of the last minutes, for tickers and marks; older ones are in the answers. */
const MAX_DECISIONS = 2_000;
/** Answers kept after their page was left, so that going back shows something at once. */
const MAX_UNWATCHED = 8;
const ASK_RETRY_MS = 2_000;
export const TICK_MS = 1_000;
/** Two hundred shards tell of something in every frame; nobody reads more than a few lists a second. */
const EVENTS_MS = 250;

/** What one view shows: the same object until it changes. */
export interface ViewState {
  readonly answer: unknown;
  readonly problem: Problem | null;
}

interface Entry {
  state: ViewState;
  readonly isLive: boolean;
  watchers: Set<() => void>;
  abort: AbortController | null;
  retry: Timer | null;
}

export interface Connection {
  readonly state: StreamState;
  /** Streams that came back after a loss count up. */
  readonly resets: number;
}

const NOTHING: ViewState = { answer: undefined, problem: null };

export class Store {
  readonly #source: DataSource;
  readonly #runtime: Runtime;
  readonly #nextFrame: (draw: () => void) => void;
  readonly #stream: LiveStream;
  readonly #entries = new Map<string, Entry>();
  readonly #dirty = new Set<() => void>();
  readonly #decisionIds = new Set<string>();
  readonly #eventWatchers = new Set<() => void>();
  readonly #connectionWatchers = new Set<() => void>();
  readonly #cellWatchers = new Set<(event: CellsEvent) => void>();
  readonly #tickWatchers = new Set<() => void>();
  #tick: Timer | null = null;
  /** What the watchers were told last. */
  #tickedMs = 0;
  #decisions: readonly Decision[] = [];
  #incoming: Decision[] = [];
  #connection: Connection = { state: 'connecting', resets: 0 };
  #eventsDue: Timer | null = null;
  #isFramePending = false;
  #firstFrame: Frame | undefined;
  #clockOffsetMs = 0;

  constructor(options: {
    readonly source: DataSource;
    readonly runtime: Runtime;
    /** requestAnimationFrame in a browser. */
    readonly nextFrame: (draw: () => void) => void;
  }) {
    this.#source = options.source;
    this.#runtime = options.runtime;
    this.#nextFrame = options.nextFrame;
    this.#stream = options.source.open((event) => this.#take(event));
  }

  /** The server's now: a browser's clock may be wrong by minutes. */
  nowMs(): number {
    if (this.#source.nowMs !== undefined) return this.#source.nowMs();
    return Number(this.#runtime.clock.unixNanos() / 1_000_000n) + this.#clockOffsetMs;
  }

  rest(): void {
    this.#stream.rest();
  }

  wake(): void {
    this.#stream.wake();
  }

  close(): void {
    this.#stream.close();
    this.#tick?.cancel();
    this.#eventsDue?.cancel();
    for (const entry of this.#entries.values()) this.#rest(entry);
    this.#entries.clear();
  }

  /** Watches a view until the returned function is called. */
  watchView(text: string, isLive: boolean, told: () => void): () => void {
    let entry = this.#entries.get(text);
    if (entry === undefined) {
      entry = { state: NOTHING, isLive, watchers: new Set(), abort: null, retry: null };
      this.#entries.set(text, entry);
    }
    const watched = entry;
    const isFirst = watched.watchers.size === 0;
    watched.watchers.add(told);
    if (isFirst && isLive) this.#want();
    if (isFirst && !isLive && watched.state.answer === undefined) this.#ask(text, watched);
    return () => {
      watched.watchers.delete(told);
      if (watched.watchers.size > 0) return;
      this.#rest(watched);
      if (isLive) this.#want();
      this.#forgetUnwatched();
    };
  }

  viewState(text: string): ViewState {
    return this.#entries.get(text)?.state ?? NOTHING;
  }

  /** Asks again for an answer that does not stream. */
  refresh(text: string): void {
    const entry = this.#entries.get(text);
    if (entry !== undefined && !entry.isLive) this.#ask(text, entry);
  }

  watchEvents(told: () => void): () => void {
    this.#eventWatchers.add(told);
    return () => void this.#eventWatchers.delete(told);
  }

  /** Newest first; the same array until one is added. */
  decisions(): readonly Decision[] {
    return this.#decisions;
  }

  watchConnection(told: () => void): () => void {
    this.#connectionWatchers.add(told);
    return () => void this.#connectionWatchers.delete(told);
  }

  connection(): Connection {
    return this.#connection;
  }

  /**
   * Of the first answer of all, live or past: whether supply is simulated and how far back is kept must be known
   * as soon as anything is shown. Told with the connection.
   */
  firstFrame(): Frame | undefined {
    return this.#firstFrame;
  }

  /** Cells are drawn, not rendered: told at once, outside of frames. */
  watchCells(told: (event: CellsEvent) => void): () => void {
    this.#cellWatchers.add(told);
    this.#want();
    return () => {
      this.#cellWatchers.delete(told);
      this.#want();
    };
  }

  /** Once a second while somebody shows an age, and when the server's time turns out to be another. */
  watchTick(told: () => void): () => void {
    this.#tickWatchers.add(told);
    this.#armTick();
    return () => {
      this.#tickWatchers.delete(told);
      if (this.#tickWatchers.size > 0) return;
      this.#tick?.cancel();
      this.#tick = null;
    };
  }

  #armTick(): void {
    this.#tick ??= this.#runtime.timers.after(TICK_MS, () => {
      this.#tick = null;
      this.#tellTick();
      this.#armTick();
    });
  }

  #tellTick(): void {
    this.#tickedMs = this.nowMs();
    this.#tellAll(this.#tickWatchers);
  }

  #want(): void {
    const views: string[] = [];
    for (const [text, entry] of this.#entries) {
      if (entry.isLive && entry.watchers.size > 0) views.push(text);
    }
    this.#stream.want({ views, cells: this.#cellWatchers.size > 0 });
  }

  #ask(text: string, entry: Entry): void {
    this.#rest(entry);
    const abort = new AbortController();
    entry.abort = abort;
    this.#source.ask(text, abort.signal).then(
      (result) => {
        if (entry.abort !== abort) return;
        entry.abort = null;
        entry.state = result.ok
          ? { answer: result.value, problem: null }
          : { answer: entry.state.answer, problem: result.error };
        this.#noteFrame(entry.state.answer);
        this.#tell(entry);
        // A server that is away comes back; a refusal stays one.
        if (!result.ok && result.error.code === 'unreachable') {
          entry.retry = this.#runtime.timers.after(ASK_RETRY_MS, () => this.#ask(text, entry));
        }
      },
      (error: unknown) => {
        if (entry.abort !== abort) return;
        entry.abort = null;
        const message = error instanceof Error ? error.message : String(error);
        entry.state = { answer: entry.state.answer, problem: { code: 'failed', message } };
        this.#tell(entry);
      },
    );
  }

  /** Ends what an entry has under way. */
  #rest(entry: Entry): void {
    entry.abort?.abort();
    entry.abort = null;
    entry.retry?.cancel();
    entry.retry = null;
  }

  #forgetUnwatched(): void {
    const unwatched = [...this.#entries].filter(([, entry]) => entry.watchers.size === 0);
    for (const [text] of unwatched.slice(0, Math.max(0, unwatched.length - MAX_UNWATCHED))) {
      this.#entries.delete(text);
    }
  }

  #take(event: LiveEvent): void {
    switch (event.name) {
      case 'view': {
        const entry = this.#entries.get(event.data.view);
        if (entry === undefined || !entry.isLive) return;
        entry.state = { answer: event.data.answer, problem: null };
        this.#noteFrame(event.data.answer);
        this.#tell(entry);
        return;
      }
      case 'refused': {
        const entry = this.#entries.get(event.data.view);
        if (entry === undefined || !entry.isLive) return;
        const { code, message } = event.data;
        entry.state = { answer: entry.state.answer, problem: { code, message } };
        this.#tell(entry);
        return;
      }
      case 'decision':
        this.#addDecision(event.data);
        return;
      case 'cells':
        for (const told of this.#cellWatchers) told(event.data);
        return;
      case 'cycle':
      case 'source':
        // Sources and the newest cycle stand in every answer's frame; the next answer carries the change.
        return;
      case 'reset':
        this.#decisions = [];
        this.#incoming = [];
        this.#decisionIds.clear();
        this.#connection = { ...this.#connection, resets: this.#connection.resets + 1 };
        this.#tellAll(this.#eventWatchers);
        this.#tellAll(this.#connectionWatchers);
        return;
      case 'time':
        this.#clockOffsetMs += event.data.nowMs - this.nowMs();
        // The time line counts from the server's time: until it is told, a key would lead to a wrong moment.
        if (Math.abs(this.nowMs() - this.#tickedMs) > TICK_MS) this.#tellTick();
        return;
      case 'state':
        this.#connection = { ...this.#connection, state: event.data };
        this.#tellAll(this.#connectionWatchers);
        return;
      default:
        event satisfies never;
    }
  }

  #noteFrame(answer: unknown): void {
    if (this.#firstFrame !== undefined) return;
    this.#firstFrame = (answer as { readonly frame?: Frame } | null | undefined)?.frame;
    if (this.#firstFrame !== undefined) this.#tellAll(this.#connectionWatchers);
  }

  #addDecision(decision: Decision): void {
    if (this.#decisionIds.has(decision.id)) return;
    this.#decisionIds.add(decision.id);
    this.#incoming.push(decision);
    this.#tellEvents();
  }

  /** The first event of a while is told in the next frame, those after it together. */
  #tellEvents(): void {
    if (this.#eventsDue !== null) return;
    this.#settleEvents();
    this.#tellAll(this.#eventWatchers);
    this.#eventsDue = this.#runtime.timers.after(EVENTS_MS, () => {
      this.#eventsDue = null;
      if (this.#incoming.length > 0) this.#tellEvents();
    });
  }

  /** A burst of a thousand decisions builds one new array. */
  #settleEvents(): void {
    if (this.#incoming.length === 0) return;
    const all = [...this.#incoming.reverse(), ...this.#decisions];
    this.#incoming = [];
    for (const old of all.slice(MAX_DECISIONS)) this.#decisionIds.delete(old.id);
    this.#decisions = all.slice(0, MAX_DECISIONS);
  }

  #tell(entry: Entry): void {
    this.#tellAll(entry.watchers);
  }

  #tellAll(watchers: ReadonlySet<() => void>): void {
    for (const told of watchers) this.#dirty.add(told);
    if (this.#isFramePending) return;
    this.#isFramePending = true;
    this.#nextFrame(() => {
      this.#isFramePending = false;
      const dirty = [...this.#dirty];
      this.#dirty.clear();
      for (const told of dirty) told();
    });
  }
}
