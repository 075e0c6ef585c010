// What a shard did while its coordinator failed, seen from outside: whether every change of demand
// that reached it had its cycle, how many reports in a row went unanswered, and which assignments it
// acted on. Streaks are counted in changes and reports, not in time: a test process that was
// itself kept waiting must not blame the shard.

import assert from 'node:assert/strict';
import { type Channel, type Client, createClient, ShardQuery } from '@bigfleet/wire';
import { dialShard, type ShardProcess, type TestOperator } from '../../shard/shard-process.ts';
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
  readonly #channel: Channel;
  readonly #query: Client<typeof ShardQuery>;
  /** Of the assignments that the shard acted on, in the order in which it told of them. */
  readonly #revisions: bigint[] = [];
  #priority = 1_000;
  #beganAtMs = monotonicMs();

  /** Changes the demand of the operator's cluster from here on. */
  constructor(shard: ShardProcess, { cluster }: TestOperator) {
    this.#shard = shard;
    this.#channel = dialShard(shard.address);
    this.#query = createClient(ShardQuery, this.#channel);
    this.#loops = [
      // Of a priority that never was: two changes between two roll-ups must not undo each other.
      new Background(CHANGE_EVERY_MS, () => cluster.want(1, (this.#priority += 1))),
      new Background(LOOK_EVERY_MS, () => this.#look()),
    ];
  }

  get assignmentCount(): number {
    return this.#revisions.length;
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

  /** A zombie's assignment, or an older leader's, would take the shard back. */
  assertNeverBack(): void {
    const sorted = this.#revisions.toSorted((a, b) => (a < b ? -1 : 1));
    assert.deepEqual(this.#revisions, sorted, 'the shard went back to an older assignment');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop[Symbol.asyncDispose]()));
    this.#channel.close();
  }

  async #look(): Promise<void> {
    const url = `http://${this.#shard.metricsAddress}/metrics`;
    const { body } = await http({ url });
    const nowMs = monotonicMs();
    const lines = body.split('\n');
    this.#cycles.saw(valueOf(lines, CHANGES), valueOf(lines, CYCLES), nowMs);
    this.#reports.saw(valueOf(lines, FAILED), valueOf(lines, ANSWERED), nowMs);
    const { assignmentRevision } = await this.#query.getShardStatus({});
    if (assignmentRevision !== this.#revisions.at(-1)) this.#revisions.push(assignmentRevision);
  }
}

function valueOf(lines: readonly string[], prefix: string): number {
  const line = lines.find((each) => each.startsWith(prefix));
  return line === undefined ? 0 : Number(line.slice(prefix.length));
}
