// A Runtime whose time moves only when told to. Events fire in the order (time, insertion), and
// between two events every microtask finishes, so one seed gives one history on any machine.
// Draining microtasks needs the platform, so `drain` is injected (real.ts has it) and this file
// stays pure. A system that keeps scheduling at one instant would never let time advance: that is
// reported after `maxEventsPerInstant` events instead of hanging.

import { assert } from '../assert.ts';
import { EventHeap } from './event-heap.ts';
import { createRandom, seededEntropy } from './random.ts';
import { checkedDelayMs, type Clock, type Runtime, type Timer, type Timers } from './runtime.ts';

/** 2026-01-01T00:00:00Z: recent enough that date handling is realistic, fixed so runs replay. */
const DEFAULT_START_UNIX_NANOS = 1_767_225_600_000_000_000n;
const DEFAULT_MAX_EVENTS_PER_INSTANT = 1_000_000;
const NANOS_PER_MS = 1_000_000;

export interface VirtualRuntimeOptions {
  readonly seed: bigint | string;
  /** Wall-clock time at virtual time 0. */
  readonly startUnixNanos?: bigint;
  /** Resolves when no microtask is left; `drainMicrotasks` of `@bigfleet/base/real` on Node. */
  readonly drain: () => Promise<void>;
  readonly maxEventsPerInstant?: number;
}

export interface IdleBounds {
  readonly maxEvents: number;
  /** Virtual milliseconds from now. */
  readonly maxMs: number;
}

export interface IdleOutcome {
  /** `idle`: nothing is pending. Otherwise the bound that stopped the run. */
  readonly stopped: 'idle' | 'max_events' | 'max_ms';
  readonly eventCount: number;
}

export class VirtualRuntime {
  readonly runtime: Runtime;
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #heap = new EventHeap();
  readonly #drain: () => Promise<void>;
  readonly #maxEventsPerInstant: number;
  #wallAtZeroNanos: bigint;
  #nowMs = 0;
  #firedEvents = 0;
  #eventsThisInstant = 0;
  #running = false;

  constructor(options: VirtualRuntimeOptions) {
    this.#drain = options.drain;
    this.#maxEventsPerInstant = options.maxEventsPerInstant ?? DEFAULT_MAX_EVENTS_PER_INSTANT;
    this.#wallAtZeroNanos = options.startUnixNanos ?? DEFAULT_START_UNIX_NANOS;
    this.#clock = {
      monotonicMs: () => this.#nowMs,
      unixNanos: () => this.#wallAtZeroNanos + nanosOf(this.#nowMs),
    };
    this.#timers = {
      after: (delayMs, fire) => this.#after(delayMs, fire),
      turn: () => new Promise((resolve) => this.#after(0, resolve)),
    };
    const random = createRandom(options.seed);
    this.runtime = this.#runtimeOf(random);
  }

  /** The same time, with random and entropy of its own, so components do not shift each other. */
  runtimeFor(name: string): Runtime {
    return this.#runtimeOf(this.runtime.random.stream('component').stream(name));
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  get pendingTimers(): number {
    return this.#heap.size;
  }

  /** Events fired since creation. */
  get firedEvents(): number {
    return this.#firedEvents;
  }

  /** Fires everything due up to and including `ms`, then stands at `ms`. */
  async runUntil(ms: number): Promise<void> {
    assert(Number.isFinite(ms) && ms >= this.#nowMs, 'virtual time cannot go back', {
      ms,
      nowMs: this.#nowMs,
    });
    await this.#run(ms, Number.POSITIVE_INFINITY);
    this.#advanceTo(ms);
  }

  runFor(ms: number): Promise<void> {
    return this.runUntil(this.#nowMs + ms);
  }

  async runUntilIdle(bounds: IdleBounds): Promise<IdleOutcome> {
    const eventCount = await this.#run(this.#nowMs + bounds.maxMs, bounds.maxEvents);
    if (this.#heap.size === 0) return { stopped: 'idle', eventCount };
    return { stopped: eventCount >= bounds.maxEvents ? 'max_events' : 'max_ms', eventCount };
  }

  /** Moves the wall clock only, as NTP or an administrator would; timers do not notice. */
  wallJump(ms: number): void {
    this.#wallAtZeroNanos += nanosOf(ms);
  }

  #runtimeOf(random: Runtime['random']): Runtime {
    const entropy = seededEntropy(random.stream('entropy'));
    return { clock: this.#clock, timers: this.#timers, random, entropy };
  }

  #after(delayMs: number, fire: () => void): Timer {
    const event = this.#heap.push(this.#nowMs + checkedDelayMs(delayMs), fire);
    return { cancel: () => this.#heap.remove(event) };
  }

  async #run(lastMs: number, maxEvents: number): Promise<number> {
    assert(!this.#running, 'virtual time is already running');
    this.#running = true;
    try {
      let eventCount = 0;
      for (;;) {
        // First of all, because the caller may have started work whose timers are not armed yet.
        await this.#drain();
        const event = this.#heap.peek();
        if (event === undefined || event.timeMs > lastMs || eventCount >= maxEvents) break;
        eventCount++;
        this.#heap.remove(event);
        this.#advanceTo(event.timeMs);
        this.#countEvent();
        event.fire();
      }
      return eventCount;
    } finally {
      this.#running = false;
    }
  }

  #advanceTo(ms: number): void {
    if (ms === this.#nowMs) return;
    this.#nowMs = ms;
    this.#eventsThisInstant = 0;
  }

  #countEvent(): void {
    this.#firedEvents++;
    this.#eventsThisInstant++;
    assert(
      this.#eventsThisInstant <= this.#maxEventsPerInstant,
      'virtual time does not advance: events keep being scheduled at one instant',
      { nowMs: this.#nowMs, events: this.#eventsThisInstant },
    );
  }
}

export function createVirtualRuntime(options: VirtualRuntimeOptions): VirtualRuntime {
  return new VirtualRuntime(options);
}

/** Split, so that nanoseconds stay exact long after ms × 10⁶ passes 2⁵³. */
function nanosOf(ms: number): bigint {
  const whole = Math.floor(ms);
  return BigInt(whole) * 1_000_000n + BigInt(Math.floor((ms - whole) * NANOS_PER_MS));
}
