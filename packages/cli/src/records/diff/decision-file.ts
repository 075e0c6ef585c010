// The decisions of another build, read from the file that it printed them into: one line at a time
// and without waiting, because a diff asks from inside an engine. Refuses output that was cut off,
// or that is of a version which this build does not know.

import { closeSync, openSync, readSync } from 'node:fs';
import { BigFleetError, describeThrown } from '@bigfleet/base';
import { DECISIONS_VERSION, type DecisionLine, parseDecisionLine } from './decision-line.ts';

const CHUNK_BYTES = 1_048_576;

export class DecisionFile implements Disposable {
  readonly #descriptor: number;
  readonly #lines: Iterator<string, undefined>;
  #next: DecisionLine | undefined;

  constructor(path: string) {
    this.#descriptor = openSync(path, 'r');
    this.#lines = linesOf(this.#descriptor);
    const first = this.take();
    if (first.kind !== 'decisions' || first.version !== DECISIONS_VERSION)
      throw unusable('it prints another version of decisions');
  }

  /** The line that `take` gives next. */
  peek(): DecisionLine {
    this.#next ??= this.#read();
    return this.#next;
  }

  take(): DecisionLine {
    const line = this.peek();
    this.#next = undefined;
    return line;
  }

  /** Goes to the decisions of this trace, over what is left of the one before. */
  enter(trace: string): void {
    for (;;) {
      const line = this.take();
      if (line.kind === 'end') throw unusable(`it decided nothing of ${trace}`);
      if (line.kind === 'trace' && line.name === trace) return;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  #read(): DecisionLine {
    const line = this.#lines.next();
    if (line.done === true) throw unusable('what it printed was cut off');
    try {
      return parseDecisionLine(line.value);
    } catch (error) {
      throw unusable(`it printed what is no decision: ${describeThrown(error)}`, error);
    }
  }
}

export function unusable(problem: string, cause?: unknown): BigFleetError {
  return new BigFleetError('other_build_unusable', `the build of --against: ${problem}`, { cause });
}

/** A last line without its end is not yielded: it was cut off. */
function* linesOf(descriptor: number): Generator<string, undefined> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let rest = Buffer.alloc(0);
  for (;;) {
    const count = readSync(descriptor, chunk);
    if (count === 0) return undefined;
    rest = Buffer.concat([rest, chunk.subarray(0, count)]);
    let from = 0;
    for (let at = rest.indexOf(10); at !== -1; at = rest.indexOf(10, from)) {
      yield rest.toString('utf8', from, at);
      from = at + 1;
    }
    rest = rest.subarray(from);
  }
}
