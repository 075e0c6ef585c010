// What a network holds right now and what happened to it so far. Everything that must be given
// back (timers, calls, handlers, connections, listeners) is counted where it is taken and where
// it is returned, so that a test can demand that nothing is left.

import type { Clock, Runtime, Timer, Timers } from '@bigfleet/base';
import type { EventLog } from './event-log.ts';

export type OpenCounts = Ledger['open'];
export type Counters = Ledger['counters'];

export class Ledger {
  readonly runtime: Runtime;
  readonly open = {
    timers: 0,
    connectionHalves: 0,
    clientCalls: 0,
    serverCalls: 0,
    /** Handlers still running, also those whose call is over: a handler that ignores its signal shows here. */
    handlers: 0,
    listeners: 0,
    /** Listeners on callers' AbortSignals. */
    signalListeners: 0,
    /** Packets waiting for a blocked link. */
    stalledPackets: 0,
  };
  readonly counters = {
    sentPackets: 0,
    deliveredPackets: 0,
    /** Arrived after the end of their call or connection. */
    latePackets: 0,
    /** Vanished with a dead host or a closed connection. */
    droppedPackets: 0,
    lostCalls: 0,
    lostConnections: 0,
    duplicatedRequests: 0,
    keepaliveTimeouts: 0,
    refusedConnections: 0,
    /** Results and failures of handlers whose call was already over. */
    lateResults: 0,
    /** Handlers that threw something other than an RpcError past the router. */
    handlerBugs: 0,
  };

  readonly clock: Clock;
  /** The runtime's timers, counted. */
  readonly timers: Timers;
  readonly #log: EventLog | undefined;
  readonly #armed = new Set<Timer>();

  constructor(runtime: Runtime, log: EventLog | undefined) {
    this.runtime = runtime;
    this.clock = runtime.clock;
    this.timers = {
      after: (delayMs, fire) => this.#arm(delayMs, fire),
      turn: () => runtime.timers.turn(),
    };
    this.#log = log;
  }

  /** False: nobody reads the lines, so do not build them. */
  get isRecording(): boolean {
    return this.#log !== undefined;
  }

  /** For work that handles every failure itself; what still escapes is a bug here, and is fatal. */
  supervise(work: Promise<void>): void {
    work.catch((bug: unknown) => {
      queueMicrotask(() => {
        throw new Error('bug in the memory transport', { cause: bug });
      });
    });
  }

  /** For the end of a network: nothing of it fires any more. */
  cancelAll(): void {
    for (const timer of this.#armed) timer.cancel();
  }

  #arm(delayMs: number, fire: () => void): Timer {
    const timer = this.runtime.timers.after(delayMs, () => {
      this.#disarm(counted);
      fire();
    });
    const counted: Timer = {
      cancel: () => {
        if (this.#disarm(counted)) timer.cancel();
      },
    };
    this.#armed.add(counted);
    this.open.timers = this.#armed.size;
    return counted;
  }

  /** False when it fired or was cancelled before. */
  #disarm(timer: Timer): boolean {
    const wasArmed = this.#armed.delete(timer);
    this.open.timers = this.#armed.size;
    return wasArmed;
  }

  record(text: string): void {
    this.#log?.append(`${Math.round(this.clock.monotonicMs() * 1000)} ${text}`);
  }
}
