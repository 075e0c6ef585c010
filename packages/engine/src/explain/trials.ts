// Tries changes by running the engine on the changed input. A change counts as verified only if
// a run shows the need covered: at once, or, when the need may preempt, in the cycle after the
// first one's actions were carried out and its drains have ended.
//
// Cost: one or two cycles from nothing per trial, each linear in machines and needs; the number
// of runs is bounded by the budget, and hitting it is said in the answer.

import { loadEngine, readCycle } from '../cycle/plain.ts';
import type { CycleInput, CycleOutput } from '../model/cycle.ts';
import { type Need, needKey } from '../model/need.ts';
import { State } from '../model/state.ts';
import { applyChange, type Change } from './change.ts';
import { Coverage } from './coverage.ts';
import { executed } from './executed.ts';

/** A change that was seen to work. */
export interface Verified {
  readonly change: Change;
  /** The need as it reads with the change. */
  readonly need: Need;
  /** Covered only after the actions of the cycle were carried out, drains included. */
  readonly isAfterDrains: boolean;
  /** Machines of lower priority that the first run preempts for the need. */
  readonly victimCount: number;
  /** The first run with the change, and the one that shows the need covered. */
  readonly first: CycleOutput;
  readonly output: CycleOutput;
  readonly dollarsPerHour: number;
  /** Machines that the need gets and does not have today. */
  readonly machineIds: readonly string[];
  /** Rows that are covered today and would not be. */
  readonly broken: readonly Need[];
}

export class Trials {
  readonly input: CycleInput;
  readonly need: Need;
  readonly baseline: CycleOutput;
  readonly before: Coverage;
  readonly #maxRuns: number;
  runCount = 0;
  /** The budget ended before everything was tried. */
  isCut = false;
  /** Drains that run or were decided will cover the need: waiting for them is no change's merit. */
  isResolving = false;

  constructor(input: CycleInput, need: Need, maxRuns: number) {
    this.input = input;
    this.need = need;
    this.#maxRuns = maxRuns;
    this.baseline = this.#run(input);
    this.before = new Coverage(this.baseline);
  }

  /** Undefined when the change does not help, or the budget does not allow to find out. */
  attempt(change: Change): Verified | undefined {
    const { input, need } = applyChange(this.input, this.need, change);
    if (!this.#mayRun()) return undefined;
    const first = this.#run(input);
    const coverage = new Coverage(first);
    if (coverage.isCovered(need)) return this.#verified(change, need, first, first, coverage);
    if (victimsFor(coverage, need) === 0 || this.isResolving || !this.#mayRun()) return undefined;
    const output = this.#run(executed(input, first));
    const later = new Coverage(output);
    if (!later.isCovered(need)) return undefined;
    return this.#verified(change, need, first, output, later);
  }

  /** A control: whether this input covers the need at once. */
  isCoveredBy(input: CycleInput): boolean {
    return this.#mayRun() && new Coverage(this.#run(input)).isCovered(this.need);
  }

  #mayRun(): boolean {
    const mayRun = this.runCount < this.#maxRuns;
    if (!mayRun) this.isCut = true;
    return mayRun;
  }

  #run(input: CycleInput): CycleOutput {
    this.runCount += 1;
    const engine = loadEngine(input, { hasRecords: false });
    engine.cycle({ nowMs: input.nowMs, quotaRemaining: input.quotaRemaining });
    return readCycle(engine);
  }

  #verified(
    change: Change,
    need: Need,
    first: CycleOutput,
    output: CycleOutput,
    coverage: Coverage,
  ): Verified {
    const machineIds = this.#newMachines(coverage.claimsOf(need));
    const wanted = new Set(machineIds);
    let dollarsPerHour = 0;
    for (const { id, pricePerHour } of this.input.machines) {
      if (wanted.has(id)) dollarsPerHour += pricePerHour;
    }
    return {
      change,
      need,
      isAfterDrains: first !== output,
      victimCount: victimsFor(new Coverage(first), need),
      first,
      output,
      dollarsPerHour,
      machineIds,
      broken: this.#brokenBy(coverage),
    };
  }

  /** Without what the need is credited with today: that is paid for already. */
  #newMachines(claimed: readonly string[]): string[] {
    const claimedToday = new Set(this.before.claimsOf(this.need));
    const credited = new Set<string>();
    for (const { id, state } of this.input.machines) {
      const isPooled = state === State.Idle || state === State.Speculative;
      if (!isPooled && claimedToday.has(id)) credited.add(id);
    }
    return claimed.filter((id) => !credited.has(id));
  }

  #brokenBy(after: Coverage): Need[] {
    const own = needKey(this.need);
    return this.input.needs.filter(
      (row) => needKey(row) !== own && this.before.isCovered(row) && !after.isCovered(row),
    );
  }
}

function victimsFor(coverage: Coverage, need: Need): number {
  return coverage.verdictsOf(need).reduce((sum, { victimCount }) => sum + victimCount, 0);
}
