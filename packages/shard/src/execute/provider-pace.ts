// How many actions one provider gets at a time, and when it gets none. A provider with a rate limit of
// its own answers RESOURCE_EXHAUSTED; a shard that goes on at full speed then is refused for most of
// its calls, and each refusal costs the provider a call too.
//
// Additive increase, multiplicative decrease, as TCP does it: a refusal halves the window, down to one,
// and begins a pause; pauses double while nothing but refusals comes back, up to half a minute; every
// acceptance widens the window by its share of one, so a whole window of them by one. Actions that had
// begun before the last refusal say nothing new: 64 refusals at once are one.
//
// A value: no timer, no clock, no I/O. The jitter keeps shards of one provider from coming back at the
// same moment.

import { Backoff, type Random } from '@bigfleet/base';

export const FIRST_PAUSE_MS = 1_000;
/** What an outage of the provider's quota costs at most after it has ended. */
export const LONGEST_PAUSE_MS = 30_000;

export interface SlowDown {
  readonly window: number;
  readonly pauseMs: number;
}

export class ProviderPace {
  readonly #maxWindow: number;
  readonly #backoff: Backoff;
  #window: number;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #isRefusing = false;
  #lastTicket = 0;
  /** Tickets up to this one were drawn before the last refusal. */
  #staleTicket = 0;

  constructor(maxWindow: number, random: Random) {
    this.#maxWindow = maxWindow;
    this.#window = maxWindow;
    const [initialMs, maxMs] = [FIRST_PAUSE_MS, LONGEST_PAUSE_MS];
    this.#backoff = new Backoff(random, { initialMs, maxMs });
  }

  get window(): number {
    return Math.floor(this.#window);
  }

  /** Its last word was a refusal: what it gets now are probes. */
  get isRefusing(): boolean {
    return this.#isRefusing;
  }

  /** 0 when the next action may begin. */
  pauseMs(nowMs: number): number {
    return Math.max(0, this.#pausedUntilMs - nowMs);
  }

  /** An action begins; the ticket goes with what the provider says to it. */
  begin(): number {
    this.#lastTicket += 1;
    return this.#lastTicket;
  }

  /** True when it is the first one after refusals. */
  accepted(ticket: number): boolean {
    if (ticket <= this.#staleTicket) return false;
    const wasRefusing = this.#isRefusing;
    this.#isRefusing = false;
    this.#backoff.reset();
    this.#window = Math.min(this.#maxWindow, this.#window + 1 / this.#window);
    return wasRefusing;
  }

  /** Undefined when the provider has been slowed down for it already. */
  refused(ticket: number, nowMs: number): SlowDown | undefined {
    if (ticket <= this.#staleTicket) return undefined;
    this.#staleTicket = this.#lastTicket;
    this.#isRefusing = true;
    this.#window = Math.max(1, this.#window / 2);
    const pauseMs = this.#backoff.nextMs();
    this.#pausedUntilMs = nowMs + pauseMs;
    return { window: this.window, pauseMs };
  }
}
