// The matrix as text: one line per mutant, and what remains to be said at the end.

import { behaviours } from '../../../catalogue/catalogue.ts';
import type { MutantJudgement } from '../judge/judge-mutant.ts';
import { isSurvivor, problemsOf } from '../judge/problems.ts';
import { idRanges } from './id-ranges.ts';

const NAME_WIDTH = 38;
const BASELINE_WIDTH = 9;
const VERDICT_WIDTH = 11;

export const header: string = row('mutant', 'baseline', 'verdict', 'failing behaviours');

export function judgementRow(judgement: MutantJudgement): string {
  const { mutant, baselineFailed, verdict, failed } = judgement;
  const baseline = baselineFailed.length > 0 ? 'notices' : 'silent';
  return row(mutant.name, baseline, verdict, idRanges(failed) || 'SURVIVED');
}

function row(name: string, baseline: string, verdict: string, killers: string): string {
  const start = name.padEnd(NAME_WIDTH) + baseline.padEnd(BASELINE_WIDTH);
  return `${start}${verdict.padEnd(VERDICT_WIDTH)}${killers}`;
}

export interface Summary {
  readonly problems: readonly string[];
  readonly closing: string;
}

/** `isWhole`: all mutants ran, so that no behaviour may be left without one that it catches. */
export function summarise(judgements: readonly MutantJudgement[], isWhole: boolean): Summary {
  const survived = judgements.filter(isSurvivor).length;
  const exercised = new Set(judgements.flatMap(({ failed }) => failed));
  const never = behaviours.filter(({ id }) => !exercised.has(id));
  return {
    problems: [
      ...judgements.flatMap(problemsOf),
      ...(isWhole ? never.map(({ id, title }) => `${id} catches no mutant: ${title}`) : []),
    ],
    closing:
      `${judgements.length - survived} mutants caught, ` +
      `${exercised.size} behaviours exercised, ${survived} survived`,
  };
}
