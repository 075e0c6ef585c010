// What a run of an engine over a trace amounts to. Money is counted as decided, in micro-dollars
// per hour, summed over the cycles:
//
//   bound    price of what was acquired for clusters (Bootstrap, Provision) minus the price of
//            what was taken from them (Reclaim, Preempt): the value that demand holds
//   bought   price of what was created (Provision) minus the price of what was given back
//            (Delete): the change of the bill
//
// A trace is an open loop: an action that the recorded run did not carry out is decided again in
// the next cycle and counts again. The figures compare two builds over the same inputs; they are
// no forecast of a bill.

import { microsPerHourFromDollars } from '@bigfleet/base';
import { ESCALATE_AFTER_CYCLES } from '../model/cycle.ts';
import { ActionKind, type ActionKindCode, isAcquisition } from '../model/action.ts';
import { addKinds, countKinds, type KindCounts } from './action-difference.ts';
import type { EngineLike } from './engine-like.ts';
import type { DecidedAction } from './entry.ts';

export interface RunTally {
  readonly cycleCount: number;
  readonly actionCount: number;
  readonly byKind: KindCounts;
  readonly preemptionCount: number;
  readonly boundMicrosPerHour: number;
  readonly boughtMicrosPerHour: number;
  /** Entries of the shortfall ledger, summed over the cycles. */
  readonly shortfallCycles: number;
  readonly peakShortfallCount: number;
  /** Entries that are old enough to escalate, summed over the cycles. */
  readonly escalatedCycles: number;
}

export class Tally {
  #byKind: KindCounts = countKinds([]);
  #cycleCount = 0;
  #actionCount = 0;
  #boundMicros = 0;
  #boughtMicros = 0;
  #shortfallCycles = 0;
  #peakShortfallCount = 0;
  #escalatedCycles = 0;

  addCycle(engine: EngineLike, actions: readonly DecidedAction[]): void {
    this.#cycleCount += 1;
    this.#actionCount += actions.length;
    this.#byKind = addKinds(this.#byKind, countKinds(actions));
    for (const { kind, machineId } of actions) {
      this.#addMoney(kind, microsOf(engine.pricePerHour(machineId)));
    }
    const shortfalls = engine.shortfalls();
    this.#shortfallCycles += shortfalls.size;
    this.#peakShortfallCount = Math.max(this.#peakShortfallCount, shortfalls.size);
    for (const { ageCycles } of shortfalls.values()) {
      if (ageCycles > ESCALATE_AFTER_CYCLES) this.#escalatedCycles += 1;
    }
  }

  read(): RunTally {
    return {
      cycleCount: this.#cycleCount,
      actionCount: this.#actionCount,
      byKind: this.#byKind,
      preemptionCount: this.#byKind[ActionKind.Preempt],
      boundMicrosPerHour: this.#boundMicros,
      boughtMicrosPerHour: this.#boughtMicros,
      shortfallCycles: this.#shortfallCycles,
      peakShortfallCount: this.#peakShortfallCount,
      escalatedCycles: this.#escalatedCycles,
    };
  }

  #addMoney(kind: ActionKindCode, micros: number): void {
    if (isAcquisition(kind)) this.#boundMicros += micros;
    if (kind === ActionKind.Reclaim || kind === ActionKind.Preempt) this.#boundMicros -= micros;
    if (kind === ActionKind.Provision) this.#boughtMicros += micros;
    if (kind === ActionKind.Delete) this.#boughtMicros -= micros;
  }
}

/** A price that no money type holds counts as the largest that one does. */
function microsOf(pricePerHour: number): number {
  const micros = microsPerHourFromDollars(pricePerHour);
  return micros.ok ? micros.value : Number.MAX_SAFE_INTEGER;
}
