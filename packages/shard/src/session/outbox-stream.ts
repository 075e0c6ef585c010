// The writing half of a session: an async iterator that the transport pulls, over the outbox. One
// writer, and back-pressure by construction: a frame is taken and encoded when the transport has
// room for it, so a slow operator fills its own outbox and nothing else.
//
// States: open → ended (once). An ended stream holds no frames; the failure it ended with is
// thrown to the transport at its next pull, because a status cannot overtake what HTTP/2 already
// holds for a peer that does not read. Stall: a non-empty outbox from which nothing was taken for
// `STALL_MS` (shard §4.3). One lazily re-armed wheel entry per stream, none while it is quiet.

import { assert, type Clock, type Timer, type TimerWheel } from '@bigfleet/base';
import type { Gauge, Counter } from '@bigfleet/telemetry';
import { encodeFrame, type ShardFrame } from './frame.ts';
import { Outbox } from './outbox.ts';

const STALL_MS = 60_000;

export interface OutboxStreamOptions {
  readonly clock: Clock;
  readonly wheel: TimerWheel;
  readonly metrics: { readonly outboxFrames: Gauge; readonly outboxCoalesced: Counter };
  /** Nothing was taken for STALL_MS, or a must-deliver frame found no room. */
  readonly onStuck: (why: 'stalled' | 'overflow') => void;
  /** The transport wants no more: the call is over. */
  readonly onAbandoned: () => void;
}

interface Waiter {
  readonly resolve: (step: IteratorResult<Uint8Array, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

const finished: IteratorReturnResult<undefined> = { done: true, value: undefined };

export class OutboxStream implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #options: OutboxStreamOptions;
  readonly #outbox = new Outbox();
  #waiter: Waiter | undefined;
  #stallTimer: Timer | undefined;
  #progressMs = 0;
  #isEnded = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(options: OutboxStreamOptions) {
    this.#options = options;
  }

  /** Frames that wait; 0 once ended. */
  get frameCount(): number {
    return this.#outbox.size;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  deliver(frame: ShardFrame): void {
    if (this.#isEnded) return;
    const isFirst = this.#outbox.size === 0;
    if (this.#outbox.deliver(frame)) this.#grew(isFirst);
    else this.#options.onStuck('overflow');
  }

  post(key: string, frame: ShardFrame): void {
    if (this.#isEnded) return;
    const isFirst = this.#outbox.size === 0;
    if (this.#outbox.post(key, frame)) this.#options.metrics.outboxCoalesced.inc();
    else this.#grew(isFirst);
  }

  barrier(frame: ShardFrame): void {
    if (this.#isEnded) return;
    const isFirst = this.#outbox.size === 0;
    this.#outbox.barrier(frame);
    this.#grew(isFirst);
  }

  /** Ends the stream with this failure, or with OK. What still waits is dropped. Idempotent. */
  end(failure?: { readonly error: unknown }): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#failure = failure;
    this.#options.metrics.outboxFrames.add(-this.#outbox.size);
    this.#outbox.clear();
    this.#stallTimer?.cancel();
    this.#stallTimer = undefined;
    const waiter = this.#waiter;
    this.#waiter = undefined;
    if (waiter !== undefined) this.#settleEnd(waiter);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** A frame that waits costs its promise and nothing else: hints go out by the thousand. */
  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    assert(this.#waiter === undefined, 'a session has one writer');
    const frame = this.#isEnded ? undefined : this.#take();
    if (frame !== undefined) return ready(frame);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { resolve, reject };
      if (this.#isEnded) this.#settleEnd(waiter);
      else this.#waiter = waiter;
    });
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.end();
    this.#options.onAbandoned();
    return Promise.resolve(finished);
  }

  #grew(wasEmpty: boolean): void {
    this.#options.metrics.outboxFrames.add(1);
    const waiter = this.#waiter;
    if (waiter !== undefined) {
      this.#waiter = undefined;
      const frame = this.#take();
      assert(frame !== undefined, 'an outbox that grew has a frame');
      hand(waiter, frame);
      return;
    }
    if (wasEmpty) this.#progressMs = this.#options.clock.monotonicMs();
    this.#stallTimer ??= this.#options.wheel.after(STALL_MS, this.#checkStall);
  }

  #take(): ShardFrame | undefined {
    const frame = this.#outbox.take();
    if (frame === undefined) return undefined;
    this.#options.metrics.outboxFrames.add(-1);
    this.#progressMs = this.#options.clock.monotonicMs();
    return frame;
  }

  /** Checks instead of re-arming at every frame: a busy stream would move its timer for nothing. */
  readonly #checkStall = (): void => {
    this.#stallTimer = undefined;
    if (this.#outbox.size === 0) return;
    const idleMs = this.#options.clock.monotonicMs() - this.#progressMs;
    if (idleMs >= STALL_MS) this.#options.onStuck('stalled');
    else this.#stallTimer = this.#options.wheel.after(STALL_MS - idleMs, this.#checkStall);
  };

  /** The failure is thrown once; after it, the stream is simply over. */
  #settleEnd(waiter: Waiter): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure === undefined) waiter.resolve(finished);
    else waiter.reject(failure.error);
  }
}

/** A frame that does not encode is a bug of ours: it ends this session, never the caller's cycle. */
function hand(waiter: Waiter, frame: ShardFrame): void {
  try {
    waiter.resolve({ done: false, value: encodeFrame(frame) });
  } catch (error) {
    waiter.reject(error);
  }
}

/** As `hand`, for a transport that has not begun to wait. */
function ready(frame: ShardFrame): Promise<IteratorResult<Uint8Array, undefined>> {
  try {
    return Promise.resolve({ done: false, value: encodeFrame(frame) });
  } catch (error) {
    return Promise.reject(error);
  }
}
