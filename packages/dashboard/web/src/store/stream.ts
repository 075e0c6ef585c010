// Keeps one stream open: it comes back after every loss from the event it saw last, tells each event once,
// and says when it can no longer be believed.
//
//   connecting  no frame has come since the stream was opened
//   live        a frame came a moment ago (the server beats every second)
//   stale       nothing for almost three seconds; after ten the stream is opened anew
//
// Time is the wall clock: a laptop that slept an hour must notice, and monotonic clocks may sleep along.

import { Backoff, type Runtime, type Timer } from '@bigfleet/base';
import type { StreamEventName } from '../../../src/api/stream.ts';
import type { LiveEvent, LiveStream, StreamState, Want } from './source.ts';

/** With the next check this stays within the three seconds that a reader is promised. */
const STALE_MS = 2_500;
const DEAD_MS = 10_000;
const CHECK_MS = 250;
const RETRY = { initialMs: 250, maxMs: 5_000 };

export interface Frame {
  readonly name: StreamEventName;
  /** Empty for events without an id of their own. */
  readonly id: string;
  readonly data: string;
}

export interface Connection {
  close(): void;
}

/** Opens `/api/v1/stream` with a query. After `lost` the connection tells nothing more. */
export type Connect = (
  query: string,
  peer: { readonly frame: (frame: Frame) => void; readonly lost: () => void },
) => Connection;

export interface StreamOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'timers' | 'random'>;
  readonly connect: Connect;
  readonly listener: (event: LiveEvent) => void;
}

export class Stream implements LiveStream {
  readonly #options: StreamOptions;
  readonly #backoff: Backoff;
  #want: Want = { views: [], cells: false };
  #connection: Connection | null = null;
  #state: StreamState = 'connecting';
  #lastId = '';
  #lastFrameMs: number;
  #retry: Timer | null = null;
  #check: Timer;
  #isClosed = false;
  #isResting = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.runtime.random, RETRY);
    this.#lastFrameMs = this.#nowMs();
    this.#check = this.#armCheck();
    // Views that are wanted in the same turn go into the first request.
    this.#openAfter(0);
  }

  want(want: Want): void {
    const isSame =
      want.cells === this.#want.cells && want.views.join('\n') === this.#want.views.join('\n');
    if (isSame || this.#isClosed) return;
    this.#want = want;
    if (!this.#isResting) this.#openAfter(0);
  }

  rest(): void {
    this.#isResting = true;
    this.#check.cancel();
    this.#retry?.cancel();
    this.#drop();
  }

  wake(): void {
    if (this.#isClosed) return;
    if (this.#isResting) this.#check = this.#armCheck();
    else if (this.#nowMs() - this.#lastFrameMs < STALE_MS) return;
    this.#isResting = false;
    this.#backoff.reset();
    this.#openAfter(0);
  }

  close(): void {
    this.rest();
    this.#isClosed = true;
  }

  #nowMs(): number {
    return Number(this.#options.runtime.clock.unixNanos() / 1_000_000n);
  }

  #armCheck(): Timer {
    return this.#options.runtime.timers.after(CHECK_MS, () => {
      // A clock that was put back would hide silence for as long as it jumped.
      this.#lastFrameMs = Math.min(this.#lastFrameMs, this.#nowMs());
      const silentMs = this.#nowMs() - this.#lastFrameMs;
      if (silentMs >= STALE_MS) this.#setState('stale');
      if (silentMs >= DEAD_MS && this.#connection !== null) {
        this.#lastFrameMs = this.#nowMs() - STALE_MS;
        this.#openAfter(0);
      }
      this.#check = this.#armCheck();
    });
  }

  #openAfter(delayMs: number): void {
    this.#retry?.cancel();
    this.#retry = this.#options.runtime.timers.after(delayMs, () => {
      this.#retry = null;
      this.#open();
    });
  }

  #drop(): void {
    const connection = this.#connection;
    this.#connection = null;
    connection?.close();
  }

  #open(): void {
    this.#drop();
    const query = new URLSearchParams();
    for (const view of this.#want.views) query.append('view', view);
    if (this.#want.cells) query.set('cells', '1');
    if (this.#lastId !== '') query.set('after', this.#lastId);
    // A connection that was replaced may still deliver what it had: only the newest one counts.
    let connection: Connection | null = null;
    const isCurrent = (): boolean => connection !== null && this.#connection === connection;
    connection = this.#options.connect(query.toString(), {
      frame: (frame) => {
        if (isCurrent()) this.#take(frame);
      },
      lost: () => {
        if (!isCurrent()) return;
        this.#drop();
        this.#openAfter(this.#backoff.nextMs());
      },
    });
    this.#connection = connection;
  }

  #setState(state: StreamState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#options.listener({ name: 'state', data: state });
  }

  #take(frame: Frame): void {
    this.#lastFrameMs = this.#nowMs();
    this.#backoff.reset();
    const { listener } = this.#options;
    const data: unknown = JSON.parse(frame.data);
    switch (frame.name) {
      case 'hello': {
        const hello = data as { id: string; isResumed: boolean; nowMs: number };
        const isFirst = this.#lastId === '';
        this.#lastId = hello.id;
        listener({ name: 'time', data: { nowMs: hello.nowMs } });
        if (!hello.isResumed && !isFirst) listener({ name: 'reset' });
        break;
      }
      case 'reset':
        this.#lastId = (data as { id: string }).id;
        listener({ name: 'reset' });
        break;
      case 'beat':
        listener({ name: 'time', data: data as { nowMs: number } });
        break;
      case 'decision':
      case 'cycle':
        if (!isAfter(frame.id, this.#lastId)) break;
        this.#lastId = frame.id;
        listener({ name: frame.name, data } as LiveEvent);
        break;
      case 'view':
      case 'refused':
      case 'cells':
      case 'source':
        listener({ name: frame.name, data } as LiveEvent);
        break;
      default:
        // A newer server may tell more: the API is additive.
        break;
    }
    this.#setState('live');
  }
}

/** Ids are `<incarnation>.<sequence>`; of another incarnation every event is new. */
export function isAfter(id: string, last: string): boolean {
  if (id === '') return true;
  const [incarnation, sequence] = splitId(id);
  const [lastIncarnation, lastSequence] = splitId(last);
  return incarnation !== lastIncarnation || sequence > lastSequence;
}

function splitId(id: string): readonly [string, number] {
  const dot = id.lastIndexOf('.');
  return [id.slice(0, dot), Number(id.slice(dot + 1))];
}
