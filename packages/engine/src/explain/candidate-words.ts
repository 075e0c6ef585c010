// Sentences about candidate rows, shared by the texts for machines and for needs.

import { candidateReasons } from '@bigfleet/base';
import type { ExplainCandidate } from './answer.ts';
import { clause, counted, dollarAmount, perHour, percent } from './words.ts';

const TOLD = 3;

/** `$1.80/h`, or what it counts as when an interruption is expected to cost something. */
export function costWords(row: ExplainCandidate): string {
  const price = perHour(row.pricePerHour);
  if (row.effectiveCost === row.pricePerHour) return price;
  const chance = `a ${percent(row.interruptionProbability)} chance of interruption per hour`;
  if (row.effectiveCost === Number.POSITIVE_INFINITY) {
    return `${price} with ${chance}, which it must not have`;
  }
  const penalty = dollarAmount(row.interruptionPenalty);
  return `${price}, which ${chance} at ${penalty} each turns into ${perHour(row.effectiveCost)}`;
}

/** What was considered and left, in the order of the rows; undefined when there was nothing. */
export function losersSentence(
  lead: string,
  rows: readonly ExplainCandidate[],
  words: (row: ExplainCandidate) => string = loserWords,
): string | undefined {
  const losers = rows.filter(({ chosen }) => !chosen);
  if (losers.length === 0) return undefined;
  const told = losers.slice(0, TOLD).map(words);
  const rest = losers.length - told.length;
  if (rest > 0) told.push(counted(rest, 'more kind'));
  return `${lead}: ${told.join('; ')}.`;
}

function loserWords(row: ExplainCandidate): string {
  const { machineCount, description } = row;
  const what =
    machineCount === 0 ? `${description}, none left,` : `${machineCount} × ${description}`;
  return `${what} at ${briefCost(row)}: ${whyLost(row)}`;
}

function briefCost({ pricePerHour, effectiveCost }: ExplainCandidate): string {
  const isPlain = effectiveCost === pricePerHour || effectiveCost === Number.POSITIVE_INFINITY;
  const price = perHour(pricePerHour);
  return isPlain ? price : `${price} (${perHour(effectiveCost)} with its risk)`;
}

export function whyLost({ reasonCode }: ExplainCandidate): string {
  return reasonCode === 'chosen' ? 'taken' : clause(candidateReasons[reasonCode].meaning);
}
