// Outgoing messages: pulls from an async iterable no faster than the transport takes them.
// The iterable runs ahead of the socket by a bounded number of bytes, never by a queue.
// Ending, failing and being stopped each happen once; stopping returns the iterator, so
// that a generator's cleanup runs even when the peer is gone.
//
// Cost per message: the iterator's own promise; guarded by bench wire/bidi.

export interface PumpSink {
  /** Takes one message; `done` is called when the transport has passed it on, if it ever does. */
  write(message: Uint8Array, done: () => void): void;
  /** The iterable ended; every message was given to write. */
  sourceEnded(): void;
  /** The iterable threw. */
  sourceFailed(error: unknown): void;
  /** The iterable threw while it was being returned; nobody else will hear of it. */
  cleanUpFailed(error: unknown): void;
}

export interface PumpLimits {
  readonly aheadBytes: number;
  readonly aheadMessageCount: number;
}

export class Pump {
  readonly #iterator: AsyncIterator<Uint8Array>;
  readonly #sink: PumpSink;
  readonly #limits: PumpLimits;
  #pendingBytes = 0;
  #pendingCount = 0;
  #pulling = false;
  #stopped = false;

  constructor(source: AsyncIterable<Uint8Array>, sink: PumpSink, limits: PumpLimits) {
    this.#iterator = source[Symbol.asyncIterator]();
    this.#sink = sink;
    this.#limits = limits;
  }

  start(): void {
    this.#pull();
  }

  /** Idempotent; after it, the sink hears only of a failing cleanup. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#iterator.return?.().then(undefined, (error: unknown) => this.#sink.cleanUpFailed(error));
  }

  #pull(): void {
    if (this.#pulling || this.#stopped) return;
    this.#pulling = true;
    try {
      this.#iterator.next().then(this.#onStep, this.#onError);
    } catch (error) {
      this.#onError(error);
    }
  }

  readonly #onStep = (step: IteratorResult<Uint8Array>): void => {
    this.#pulling = false;
    if (this.#stopped) return;
    if (step.done === true) {
      this.#stopped = true;
      this.#sink.sourceEnded();
      return;
    }
    this.#write(step.value);
  };

  #write(message: Uint8Array): void {
    const bytes = message.length;
    this.#pendingBytes += bytes;
    this.#pendingCount += 1;
    this.#sink.write(message, () => {
      this.#pendingBytes -= bytes;
      this.#pendingCount -= 1;
      if (this.#hasRoom()) this.#pull();
    });
    if (this.#hasRoom()) this.#pull();
  }

  #hasRoom(): boolean {
    return (
      this.#pendingBytes < this.#limits.aheadBytes &&
      this.#pendingCount < this.#limits.aheadMessageCount
    );
  }

  readonly #onError = (error: unknown): void => {
    this.#pulling = false;
    if (this.#stopped) {
      this.#sink.cleanUpFailed(error);
      return;
    }
    this.#stopped = true;
    this.#sink.sourceFailed(error);
  };
}
