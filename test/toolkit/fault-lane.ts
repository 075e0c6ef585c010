// One direction of one proxied connection: a bounded queue of chunks with due times, written out
// under the current faults. Latency delays each chunk but keeps them flowing side by side;
// throttling spaces them out; silence holds everything back, the closing of the connection too,
// because a partition hides a FIN as well as data. Never loses or reorders a byte: TCP would not,
// and a stream with a hole in it is a fault that no network can cause.

import type { Socket } from 'node:net';
import { after, monotonicMs } from './real-time.ts';

/** Beyond this the sender feels back-pressure, as it would from a full socket buffer. */
const MAX_QUEUED_BYTES = 256 * 1024;
/** Small enough that a throttled lane trickles instead of bursting once a second. */
const THROTTLE_SLICES_PER_SECOND = 20;

export interface LaneFaults {
  /** Nothing passes; held until healed. */
  readonly silent: boolean;
  readonly latencyMs: number;
  /** `Infinity` for no limit. */
  readonly bytesPerSecond: number;
}

export const NO_FAULTS: LaneFaults = {
  silent: false,
  latencyMs: 0,
  bytesPerSecond: Number.POSITIVE_INFINITY,
};

interface Parcel {
  readonly dueMs: number;
  /** `undefined`: the sender has finished. */
  readonly bytes: Uint8Array | undefined;
}

export class FaultLane {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #faults: () => LaneFaults;
  readonly #queue: Parcel[] = [];
  #queuedBytes = 0;
  #freeAtMs = 0;
  #blocked = false;
  #timer: { cancel(): void } | undefined;

  constructor(from: Socket, to: Socket, faults: () => LaneFaults) {
    this.#from = from;
    this.#to = to;
    this.#faults = faults;
    from.on('data', (bytes: Uint8Array) => this.#accept(bytes));
    from.on('end', () => this.#accept(undefined));
    to.on('drain', () => {
      this.#blocked = false;
      this.pump();
    });
  }

  /** Passes on what is due; called again whenever the faults change. */
  pump(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    for (;;) {
      const head = this.#queue[0];
      const { silent, bytesPerSecond } = this.#faults();
      if (head === undefined || silent || this.#blocked || !this.#to.writable) return;
      const waitMs = Math.max(head.dueMs, this.#freeAtMs) - monotonicMs();
      if (waitMs > 0) {
        this.#timer = after(waitMs, () => this.pump());
        return;
      }
      this.#send(head, bytesPerSecond);
    }
  }

  stop(): void {
    this.#timer?.cancel();
    this.#queue.length = 0;
  }

  #accept(bytes: Uint8Array | undefined): void {
    this.#queue.push({ dueMs: monotonicMs() + this.#faults().latencyMs, bytes });
    this.#queuedBytes += bytes?.length ?? 0;
    if (this.#queuedBytes > MAX_QUEUED_BYTES) this.#from.pause();
    this.pump();
  }

  #send(head: Parcel, bytesPerSecond: number): void {
    if (head.bytes === undefined) {
      this.#queue.shift();
      this.#to.end();
      return;
    }
    const slice = Math.max(1, Math.floor(bytesPerSecond / THROTTLE_SLICES_PER_SECOND));
    const now = head.bytes.subarray(0, Math.min(head.bytes.length, slice));
    const rest = head.bytes.subarray(now.length);
    if (rest.length === 0) this.#queue.shift();
    else this.#queue[0] = { dueMs: head.dueMs, bytes: rest };
    this.#queuedBytes -= now.length;
    this.#freeAtMs = monotonicMs() + (now.length / bytesPerSecond) * 1_000;
    this.#blocked = !this.#to.write(now);
    if (this.#queuedBytes <= MAX_QUEUED_BYTES / 2) this.#from.resume();
  }
}
