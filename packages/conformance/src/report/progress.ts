// Progress while a run goes on. On a terminal one line is rewritten in place; elsewhere each lane
// says that it begins, and each failure is told when it happens, so that a log of an aborted run
// is of some use.

import type { LaneName } from '../run/lane-names.ts';
import type { LaneStart, RunObserver, TestResult } from '../run/result.ts';
import { oneLine } from './console.ts';

export interface ProgressSink {
  write(text: string): void;
  readonly isTerminal: boolean;
  readonly columns: number;
}

const ERASE_LINE = '\r\u001B[2K';

export class Progress implements RunObserver {
  readonly #sink: ProgressSink;
  #checkCount = 0;
  #doneCount = 0;
  #failedCount = 0;

  constructor(sink: ProgressSink) {
    this.#sink = sink;
  }

  laneStarted({ lane, judged, checkCount }: LaneStart): void {
    this.#checkCount = checkCount;
    this.#doneCount = 0;
    this.#failedCount = 0;
    this.#print(`${lane}: ${checkCount} checks on ${judged}`);
  }

  checkStarted(lane: LaneName, name: string): void {
    if (!this.#sink.isTerminal) return;
    const failed = this.#failedCount === 0 ? '' : `, ${this.#failedCount} failed`;
    const line = `${lane} ${this.#doneCount}/${this.#checkCount}${failed} ${name} …`;
    this.#sink.write(ERASE_LINE + line.slice(0, Math.max(0, this.#sink.columns - 1)));
  }

  checkEnded(lane: LaneName, { name, outcome }: TestResult): void {
    this.#doneCount += 1;
    if (outcome.kind !== 'failed') return;
    this.#failedCount += 1;
    this.#print(`${lane} ${name} failed: ${outcome.finding}`);
  }

  /** Leaves no half-written line behind. */
  end(): void {
    if (this.#sink.isTerminal) this.#sink.write(ERASE_LINE);
  }

  #print(line: string): void {
    const start = this.#sink.isTerminal ? ERASE_LINE : '';
    this.#sink.write(`${start}${oneLine(line)}\n`);
  }
}
