// stderr as a sink. Every write is synchronous, so the order holds and nothing is under way when the
// process ends; and where stderr is a pipe (a container runtime, a shell) it is opened a second time
// without blocking, so a reader that stops reading cannot stop the event loop. What such a pipe does
// not take waits in a bounded backlog; beyond it, lines are dropped and counted. Files and terminals
// always take a line; a socket (systemd) blocks like for any other program.

import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import type { Timers } from '@bigfleet/base';
import type { MetricRegistry } from '../metrics/registry.ts';
import type { LogSink } from './logger.ts';

export interface StderrSinkOptions {
  readonly timers: Timers;
  readonly registry: MetricRegistry;
}

const STDERR = 2;
const MAX_BACKLOG_BYTES = 4 * 1024 * 1024;
const RETRY_MS = 20;
/** At the end of the process, a reader that takes nothing for 400 × 5 ms is given up. */
const FINAL_WAIT_MS = 5;
const MAX_FINAL_WAITS = 400;

/** Make one per process: it listens for the end of the process. */
export function stderrSink(options: StderrSinkOptions): LogSink {
  const dropped = options.registry.counter({
    name: 'bigfleet_telemetry_log_drops_total',
    help: 'Log lines lost because stderr did not take them.',
  });
  const sink = new DescriptorSink(nonBlockingStderr(), options.timers, () => dropped.inc());
  process.on('exit', () => sink.flushSync());
  return sink;
}

class DescriptorSink implements LogSink {
  readonly #descriptor: number;
  readonly #timers: Timers;
  readonly #onDrop: () => void;
  readonly #backlog: Buffer[] = [];
  #backlogBytes = 0;
  #retryArmed = false;

  constructor(descriptor: number, timers: Timers, onDrop: () => void) {
    this.#descriptor = descriptor;
    this.#timers = timers;
    this.#onDrop = onDrop;
  }

  write(lines: string): void {
    const bytes = Buffer.from(lines, 'utf8');
    const rest = this.#backlog.length === 0 ? this.#writeNow(bytes) : bytes;
    if (rest.length === 0) return;
    // The rest of a line that was begun is always kept: half a line would spoil the next one.
    if (this.#backlogBytes + rest.length > MAX_BACKLOG_BYTES) return this.#onDrop();
    this.#backlog.push(rest);
    this.#backlogBytes += rest.length;
    if (!this.#retryArmed) this.#armRetry();
  }

  flushSync(): void {
    const cell = new Int32Array(new SharedArrayBuffer(4));
    let leftBytes = this.#backlogBytes;
    for (let waits = 0; waits < MAX_FINAL_WAITS && !this.#drain(); waits++) {
      if (this.#backlogBytes < leftBytes) waits = 0;
      leftBytes = this.#backlogBytes;
      Atomics.wait(cell, 0, 0, FINAL_WAIT_MS);
    }
  }

  #armRetry(): void {
    this.#retryArmed = true;
    this.#timers.after(RETRY_MS, () => {
      this.#retryArmed = false;
      if (!this.#drain()) this.#armRetry();
    });
  }

  /** True when nothing is left. */
  #drain(): boolean {
    for (let first = this.#backlog[0]; first !== undefined; first = this.#backlog[0]) {
      const rest = this.#writeNow(first);
      this.#backlogBytes -= first.length - rest.length;
      if (rest.length > 0) {
        this.#backlog[0] = rest;
        return false;
      }
      this.#backlog.shift();
    }
    return true;
  }

  /** What the descriptor did not take. A broken one takes everything, and it is counted. */
  #writeNow(bytes: Buffer): Buffer {
    let rest = bytes;
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(this.#descriptor, rest));
      return rest;
    } catch (thrown) {
      if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EAGAIN') return rest;
      this.#onDrop();
      return rest.subarray(rest.length);
    }
  }
}

/**
 * A descriptor of its own for a pipe: making the shared one non-blocking would change it for whoever
 * else holds it. Not for files: a second descriptor has a second position, and Node's own last
 * words on the first would overwrite our lines.
 */
function nonBlockingStderr(): number {
  try {
    if (!fstatSync(STDERR).isFIFO()) return STDERR;
    return openSync(`/proc/self/fd/${STDERR}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return STDERR; // no /proc, or not ours to open: blocking writes are the next best
  }
}
