// What a shard did while its coordinator failed, seen from outside: whether every change of demand
// that reached it had its cycle, how many reports in a row went unanswered, and which instructions
// it carried out. Streaks are counted in changes and reports, not in time: a test process that was
// itself kept waiting must not blame the shard.

import assert from 'node:assert/strict';
import type { ShardProcess, TestOperator } from '../../shard/shard-process.ts';
import { http, monotonicMs } from '../../toolkit/index.ts';
import { Background } from './background.ts';

const LOOK_EVERY_MS = 100;
/** How often demand changes, and with it a cycle runs. */
const CHANGE_EVERY_MS = 330;

const CHANGES = 'bigfleet_shard_rollups_total{outcome="applied"} ';
const CYCLES = 'bigfleet_shard_cycles_total ';
const REPORTS = 'bigfleet_shard_coordinator_report_total';
const ANSWERED = `${REPORTS}{outcome="success"} `;
const FAILED = `${REPORTS}{outcome="error"} `;
const ACCEPTED = /msg="instruction accepted".* instruction_id=(\S+)/;

/** Of the time since `begin`. */
export interface Window {
  readonly forMs: number;
  readonly changeCount: number;
  readonly cycleCount: number;
  /** Changes of demand in a row after which no cycle ran. */
  readonly longestWithoutCycle: number;
  readonly answeredCount: number;
  /** Reports in a row that nobody answered. */
  readonly longestUnanswered: number;
  readonly longestUnansweredMs: number;
}

/** How often `tries` moved, at most, while `results` stood. */
class Streak {
  #tries = 0;
  #results = 0;
  #open = 0;
  #longest = 0;
  #movedAtMs = 0;
  #longestMs = 0;
  #firstTries = 0;
  #firstResults = 0;

  begin(nowMs: number): void {
    this.#open = 0;
    this.#longest = 0;
    this.#longestMs = 0;
    this.#movedAtMs = nowMs;
    this.#firstTries = this.#tries;
    this.#firstResults = this.#results;
  }

  saw(tries: number, results: number, nowMs: number): void {
    const hasMoved = results !== this.#results;
    this.#open = hasMoved ? 0 : this.#open + tries - this.#tries;
    this.#longest = Math.max(this.#longest, this.#open);
    this.#longestMs = Math.max(this.#longestMs, nowMs - this.#movedAtMs);
    if (hasMoved) this.#movedAtMs = nowMs;
    this.#tries = tries;
    this.#results = results;
  }

  get longest(): number {
    return this.#longest;
  }

  get longestMs(): number {
    return Math.round(this.#longestMs);
  }

  get tryCount(): number {
    return this.#tries - this.#firstTries;
  }

  get resultCount(): number {
    return this.#results - this.#firstResults;
  }
}

export class ShardWatch implements AsyncDisposable {
  readonly #shard: ShardProcess;
  readonly #loops: readonly Background[];
  readonly #cycles = new Streak();
  readonly #reports = new Streak();
  /** By instruction: the log lines of its executions. Bounded by the instructions of a test. */
  readonly #executed = new Map<string, Set<string>>();
  #priority = 1_000;
  #beganAtMs = monotonicMs();

  /** Changes the demand of the operator's cluster from here on. */
  constructor(shard: ShardProcess, { cluster }: TestOperator) {
    this.#shard = shard;
    this.#loops = [
      // Of a priority that never was: two changes between two roll-ups must not undo each other.
      new Background(CHANGE_EVERY_MS, () => cluster.want(1, (this.#priority += 1))),
      new Background(LOOK_EVERY_MS, () => this.#look()),
    ];
  }

  get executedCount(): number {
    return this.#executed.size;
  }

  begin(): void {
    this.#beganAtMs = monotonicMs();
    this.#cycles.begin(this.#beganAtMs);
    this.#reports.begin(this.#beganAtMs);
  }

  window(): Window {
    return {
      forMs: Math.round(monotonicMs() - this.#beganAtMs),
      changeCount: this.#cycles.tryCount,
      cycleCount: this.#cycles.resultCount,
      longestWithoutCycle: this.#cycles.longest,
      answeredCount: this.#reports.resultCount,
      longestUnanswered: this.#reports.longest,
      longestUnansweredMs: this.#reports.longestMs,
    };
  }

  /** Throws when one was executed twice. */
  assertOnce(): void {
    for (const [id, lines] of this.#executed) {
      assert.equal(lines.size, 1, `${id} was executed twice:\n${[...lines].join('\n')}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop[Symbol.asyncDispose]()));
  }

  async #look(): Promise<void> {
    const url = `http://${this.#shard.metricsAddress}/metrics`;
    const { body } = await http({ url });
    const nowMs = monotonicMs();
    const lines = body.split('\n');
    this.#cycles.saw(valueOf(lines, CHANGES), valueOf(lines, CYCLES), nowMs);
    this.#reports.saw(valueOf(lines, FAILED), valueOf(lines, ANSWERED), nowMs);
    this.#collect();
  }

  /** The kept output is bounded, so it is read as it comes; a line seen twice is one line. */
  #collect(): void {
    for (const line of this.#shard.process.output.text().split('\n')) {
      const id = ACCEPTED.exec(line)?.[1];
      if (id === undefined) continue;
      this.#executed.set(id, (this.#executed.get(id) ?? new Set()).add(line));
    }
  }
}

function valueOf(lines: readonly string[], prefix: string): number {
  const line = lines.find((each) => each.startsWith(prefix));
  return line === undefined ? 0 : Number(line.slice(prefix.length));
}
