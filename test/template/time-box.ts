// The time box of a long test: BIGFLEET_LONG_MS is soft, so a step that has begun ends, and no
// further one begins after it. A step that says how long it may take begins only if it ends not too
// far beyond the box: the whole lane stays near its own. Each step's duration is part of the test's
// output.

import { monotonicMs } from '../toolkit/index.ts';

const ALONE_MS = 900_000;
/** Besides twice the box; the runner's hang guard (tools/test/long.ts) is further away. */
const GRACE_MS = 100_000;

/** The part of a test context that this needs. */
export interface Notes {
  diagnostic(message: string): void;
}

export interface Step {
  readonly run: () => Promise<void>;
  /** On two busy cores; short when absent. */
  readonly expectedMs?: number;
}

export class TimeBox {
  readonly #notes: Notes;
  readonly #startMs = monotonicMs();
  readonly #boxMs: number;

  constructor(notes: Notes) {
    this.#notes = notes;
    this.#boxMs = Number(process.env['BIGFLEET_LONG_MS'] ?? ALONE_MS);
  }

  /** The steps in order, until the box is used up; says before which it stopped. */
  async run(steps: Readonly<Record<string, Step>>): Promise<void> {
    for (const [name, { run, expectedMs = 0 }] of Object.entries(steps)) {
      const spentMs = monotonicMs() - this.#startMs;
      const isOver = spentMs >= this.#boxMs;
      if (isOver || spentMs + expectedMs > 2 * this.#boxMs + GRACE_MS) {
        this.#notes.diagnostic(`stopped before "${name}": a box of ${seconds(this.#boxMs)}`);
        return;
      }
      const startMs = monotonicMs();
      await run();
      this.#notes.diagnostic(`${name}: ${seconds(monotonicMs() - startMs)}`);
    }
    this.#notes.diagnostic(`everything: ${seconds(monotonicMs() - this.#startMs)}`);
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
