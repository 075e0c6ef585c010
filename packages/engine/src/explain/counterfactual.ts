// What would satisfy an unmet need: single changes, cheapest first, each verified by running the
// engine on the changed input. The list holds nothing unverified, and "nothing helps" is an
// answer of its own. Says what each change would cost others.
//
// Cost: at most `maxRuns` cycles from nothing (64 by default; most needs take fewer than 20), each
// over the whole input: about 7 µs per machine and run. So not on the thread that runs cycles.

import type { CounterfactualReason } from '@bigfleet/base';
import { type CycleInput, REPROBE_EVERY_CYCLES } from '../model/cycle.ts';
import { type Need, needKey } from '../model/need.ts';
import type { NeedRef } from './answer.ts';
import type { Change } from './change.ts';
import { changeText, nothingHelpsText, refOfNeed } from './counterfactual-words.ts';
import { Trials, type Verified } from './trials.ts';
import { tryPrices, tryPriorities } from './try-contention.ts';
import { tryDomains, tryRequirements } from './try-profile.ts';
import { tryCreates, tryDrains, tryQuotas } from './try-supply.ts';
import { counted, needWords } from './words.ts';

export const DEFAULT_MAX_RUNS = 64;

export interface CounterfactualOptions {
  /** Engine runs, the one without a change included. */
  readonly maxRuns?: number;
}

/** The first four fields are those of the wire. */
export interface Counterfactual {
  readonly reasonCode: CounterfactualReason;
  readonly text: string;
  /** Of the machines that the need would acquire. */
  readonly dollarsPerHour: number;
  /** Always: what did not work in a run is not listed. */
  readonly verified: true;
  readonly change: Change;
  /** Covered only in a second cycle, when the first one's actions and all drains are done. */
  readonly isAfterDrains: boolean;
  /** Needs that are covered today and would be short. */
  readonly broken: readonly NeedRef[];
}

export type CounterfactualAnswer =
  | {
      readonly kind: 'changes';
      readonly changes: readonly Counterfactual[];
      readonly runCount: number;
      /** The budget of runs ended before everything was tried. */
      readonly truncated: boolean;
    }
  | {
      readonly kind: 'nothing_helps';
      readonly text: string;
      readonly runCount: number;
      readonly truncated: boolean;
    }
  /** Covered, or parked while there is capacity by now. */
  | { readonly kind: 'no_change_needed'; readonly text: string; readonly runCount: number }
  | { readonly kind: 'unknown_need'; readonly text: string };

export function counterfactual(
  input: CycleInput,
  ref: NeedRef,
  { maxRuns = DEFAULT_MAX_RUNS }: CounterfactualOptions = {},
): CounterfactualAnswer {
  const need = input.needs.find((row) => isNamed(row, ref));
  if (need === undefined) {
    return { kind: 'unknown_need', text: `No cluster reports ${needWords(ref)}.` };
  }
  const trials = new Trials(input, need, maxRuns);
  const early = needsNoChange(trials);
  if (early !== undefined)
    return { kind: 'no_change_needed', text: early, runCount: trials.runCount };
  const changes = findChanges(trials).sort(compareFound);
  const { runCount, isCut: truncated } = trials;
  return changes.length === 0
    ? { kind: 'nothing_helps', text: nothingHelpsText(trials), runCount, truncated }
    : {
        kind: 'changes',
        changes: changes.map((found) => told(trials, found)),
        runCount,
        truncated,
      };
}

function isNamed(row: Need, { cluster, fingerprint, group }: NeedRef): boolean {
  return row.cluster === cluster && row.profile.fingerprint === fingerprint && row.group === group;
}

/** The least intrusive first, so that a small budget is well spent. */
function findChanges(trials: Trials): Verified[] {
  const drains = tryDrains(trials);
  trials.isResolving = drains.length > 0;
  return [
    ...drains,
    ...tryCreates(trials),
    ...tryQuotas(trials),
    ...tryDomains(trials),
    ...tryRequirements(trials),
    ...tryPrices(trials),
    ...tryPriorities(trials),
  ];
}

/** Any change of profile ends a parking: without this control it would take the credit for that. */
function needsNoChange(trials: Trials): string | undefined {
  const { input, need, before } = trials;
  const name = needWords(refOfNeed(need));
  if (before.isCovered(need)) return `Nothing needs to change: ${name} is covered.`;
  const parked = before.verdictsOf(need).find((verdict) => verdict.parked);
  if (parked === undefined) return undefined;
  const parkingAges = new Map(input.memory.parkingAges);
  parkingAges.delete(needKey(parked.need));
  const memory = { ...input.memory, parkingAges };
  if (!trials.isCoveredBy({ ...input, memory })) return undefined;
  const cycles = REPROBE_EVERY_CYCLES - (parked.parkedAgeCycles % REPROBE_EVERY_CYCLES);
  return `Nothing needs to change: ${name} is parked, but there is room for it now; it is tried again in ${counted(cycles, 'cycle')}.`;
}

/** From what leaves the demand alone to what takes from others. */
const INTRUSIVENESS: readonly CounterfactualReason[] = [
  'wait_for_drain',
  'wait_for_create',
  'raise_quota',
  'price_headroom',
  'relax_domain',
  'relax_requirement',
  'raise_priority',
];

function compareFound(a: Verified, b: Verified): number {
  return (
    a.dollarsPerHour - b.dollarsPerHour ||
    a.broken.length - b.broken.length ||
    INTRUSIVENESS.indexOf(a.change.code) - INTRUSIVENESS.indexOf(b.change.code)
  );
}

function told(trials: Trials, found: Verified): Counterfactual {
  const { change, dollarsPerHour, isAfterDrains, broken } = found;
  return {
    reasonCode: change.code,
    text: changeText(trials, found),
    dollarsPerHour,
    verified: true,
    change,
    isAfterDrains,
    broken: broken.map(refOfNeed),
  };
}
