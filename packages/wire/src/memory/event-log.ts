// The append-only record of everything that a network made visible: packets sent, delivered
// and dropped, faults, outcomes of calls. Two runs of one seed give the same bytes, so their
// hashes are compared and a differing run is a bug. Memory is bounded: the log keeps a running
// hash and its last lines; whoever wants the whole text passes a sink.

import { createHash } from 'node:crypto';

const DEFAULT_TAIL_LINES = 200;
/** Hashing line by line costs more than the hash itself. */
const LINES_PER_UPDATE = 64;

export interface EventLogOptions {
  /** How many of the newest lines `tail` returns. */
  readonly tailLines?: number;
  /** Gets every line, in order, without its line feed. */
  readonly sink?: (line: string) => void;
}

export class EventLog {
  readonly #hash = createHash('sha256');
  readonly #tailLines: number;
  readonly #sink: ((line: string) => void) | undefined;
  #tail: string[] = [];
  #pending: string[] = [];
  #lineCount = 0;

  constructor(options: EventLogOptions = {}) {
    this.#tailLines = options.tailLines ?? DEFAULT_TAIL_LINES;
    this.#sink = options.sink;
  }

  get lineCount(): number {
    return this.#lineCount;
  }

  append(line: string): void {
    this.#lineCount += 1;
    this.#pending.push(line);
    if (this.#pending.length >= LINES_PER_UPDATE) this.#flush();
    this.#sink?.(line);
  }

  /** SHA-256 over all lines so far, each ended by a line feed; appending may go on. */
  hash(): string {
    this.#flush();
    return this.#hash.copy().digest('hex');
  }

  /** The newest lines, for the report of a failing seed. */
  tail(): readonly string[] {
    return [...this.#tail, ...this.#pending].slice(-this.#tailLines);
  }

  #flush(): void {
    if (this.#pending.length === 0) return;
    this.#hash.update(`${this.#pending.join('\n')}\n`);
    this.#tail = [...this.#tail, ...this.#pending].slice(-this.#tailLines);
    this.#pending = [];
  }
}
