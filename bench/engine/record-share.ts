// What decision records cost: the share of a cycle's processor time that goes away when no record
// is written. Two fleets of one shape get the same changes, so both do the same work in the same
// round, and in each round one of them writes its record. The writer and who goes first change
// from round to round: two heaps of equal content are not equally fast, which once read as a tenth
// of a cycle. The rounds of each writer are averaged apart and weigh the same, so it cancels.
//
// Counted is what the whole process computes while the cycle and its record are made, collection
// and compilation on other threads included; waiting for a core is not. The tenth of the rounds
// with the largest and the tenth with the smallest difference are left out: a collection of the
// old heap, or a compilation, lands on either side by chance.

export interface RecordSide {
  /** Applies the changes of the round; outside of the clock. */
  prepare(): void;
  /** Decides with or without a record; false for a cycle that does not count. */
  decide(hasRecords: boolean): boolean;
}

export interface RecordShare {
  readonly recordShare: number;
  /** Half the width of a 95 % interval around the share. */
  readonly recordShareError: number;
  /** Processor time of the records of one cycle. */
  readonly recordMs: number;
}

/** Runs the work; what it took in milliseconds, or undefined when the work does not count. */
export type Clock = (work: () => boolean) => number | undefined;

const TRIMMED_SHARE = 0.1;
/** Standard errors on either side of an estimate that hold it in 95 of 100 runs. */
const ERRORS_95 = 1.96;

export function recordShare(
  sides: readonly [RecordSide, RecordSide],
  rounds: number,
  clock: Clock = processorClock,
): RecordShare {
  const byWriter = [new Rounds(), new Rounds()] as const;
  for (let round = -Math.ceil(rounds / 10); round < rounds; round++) {
    const writer = round & 1;
    const first = (round >> 1) & 1;
    const spent = [measure(sides, first, writer, clock), measure(sides, 1 - first, writer, clock)];
    const withMs = spent[first ^ writer];
    const withoutMs = spent[1 - (first ^ writer)];
    if (round < 0 || withMs === undefined || withoutMs === undefined) continue;
    byWriter[writer as 0 | 1].add(withMs, withoutMs);
  }
  const estimates = byWriter.map((some) => some.estimate());
  const cycleMs = mean(estimates.map((some) => some.cycleMs));
  const recordMs = mean(estimates.map((some) => some.recordMs));
  const errorMs = Math.hypot(...estimates.map((some) => some.errorMs)) / estimates.length;
  return {
    recordShare: recordMs / cycleMs,
    recordShareError: (ERRORS_95 * errorMs) / cycleMs,
    recordMs,
  };
}

function measure(
  sides: readonly [RecordSide, RecordSide],
  which: number,
  writer: number,
  clock: Clock,
): number | undefined {
  const side = sides[which as 0 | 1];
  side.prepare();
  return clock(() => side.decide(which === writer));
}

interface Estimate {
  readonly cycleMs: number;
  readonly recordMs: number;
  /** Standard error of the latter. */
  readonly errorMs: number;
}

/** The rounds in which one of the sides wrote. */
class Rounds {
  readonly #withMs: number[] = [];
  readonly #differenceMs: number[] = [];

  add(withMs: number, withoutMs: number): void {
    this.#withMs.push(withMs);
    this.#differenceMs.push(withMs - withoutMs);
  }

  estimate(): Estimate {
    const differences = this.#differenceMs.toSorted((a, b) => a - b);
    const kept = trimmed(differences);
    return {
      cycleMs: mean(trimmed(this.#withMs.toSorted((a, b) => a - b))),
      recordMs: mean(kept),
      errorMs: trimmedError(differences, kept),
    };
  }
}

function trimmed(sorted: readonly number[]): readonly number[] {
  const cut = Math.floor(sorted.length * TRIMMED_SHARE);
  return sorted.slice(cut, sorted.length - cut);
}

/** Of a trimmed mean: what was cut counts as if it stood at the cut. */
function trimmedError(sorted: readonly number[], kept: readonly number[]): number {
  const least = kept[0] ?? 0;
  const most = kept.at(-1) ?? 0;
  const drawnIn = sorted.map((value) => Math.min(most, Math.max(least, value)));
  const centre = mean(drawnIn);
  const squares = drawnIn.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  const deviation = Math.sqrt(squares / (sorted.length - 1));
  return (deviation * Math.sqrt(sorted.length)) / kept.length;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function processorClock(work: () => boolean): number | undefined {
  const before = process.cpuUsage();
  const counts = work();
  const { user, system } = process.cpuUsage(before);
  return counts ? (user + system) / 1_000 : undefined;
}
