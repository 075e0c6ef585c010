// The one file that touches the wall clock, timers and system randomness. Everything else takes a
// Runtime, which is why the whole system can run under virtual time. It repairs two platform
// traps: setTimeout turns delays beyond 2^31-1 ms into 1 ms, and may fire early by a fraction.

import { createRandom } from './random.ts';
import {
  checkedDelayMs,
  type Clock,
  type Entropy,
  type Runtime,
  type Timer,
  type Timers,
} from './runtime.ts';

const MAX_PLATFORM_DELAY_MS = 0x7fff_ffff;
const MAX_ENTROPY_CHUNK_BYTES = 65_536;

export interface RealRuntimeOptions {
  /** For repeating one run's jitter and sampling; drawn from system entropy when absent. */
  readonly seed?: bigint | string;
}

export function realRuntime(options: RealRuntimeOptions = {}): Runtime {
  return {
    clock: realClock,
    timers: realTimers,
    random: createRandom(options.seed ?? entropySeed()),
    entropy: systemEntropy,
  };
}

/** Resolves after every microtask that is pending now, and all that those queue in turn. */
export function drainMicrotasks(): Promise<void> {
  return new Promise<void>(scheduleImmediate);
}

// A named function, so that draining once per simulated event allocates no closure.
function scheduleImmediate(resolve: () => void): void {
  setImmediate(resolve);
}

const realClock: Clock = {
  monotonicMs: () => performance.now(),
  unixNanos: () => BigInt(Date.now()) * 1_000_000n,
};

const realTimers: Timers = {
  after: (delayMs, fire) => new RealTimer(checkedDelayMs(delayMs), fire),
  turn: drainMicrotasks,
};

const systemEntropy: Entropy = {
  bytes(count) {
    const bytes = new Uint8Array(count);
    for (let at = 0; at < count; at += MAX_ENTROPY_CHUNK_BYTES) {
      crypto.getRandomValues(bytes.subarray(at, at + MAX_ENTROPY_CHUNK_BYTES));
    }
    return bytes;
  },
};

class RealTimer implements Timer {
  readonly #dueMs: number;
  readonly #fire: () => void;
  #handle: NodeJS.Timeout;

  constructor(delayMs: number, fire: () => void) {
    this.#dueMs = performance.now() + delayMs;
    this.#fire = fire;
    this.#handle = this.#arm(delayMs);
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }

  #arm(remainingMs: number): NodeJS.Timeout {
    return setTimeout(this.#expire, Math.min(Math.ceil(remainingMs), MAX_PLATFORM_DELAY_MS));
  }

  readonly #expire = (): void => {
    const remainingMs = this.#dueMs - performance.now();
    if (remainingMs > 0) this.#handle = this.#arm(remainingMs);
    else this.#fire();
  };
}

function entropySeed(): bigint {
  const words = new DataView(systemEntropy.bytes(8).buffer);
  return words.getBigUint64(0);
}
