// Codes and numbers of the mirror in the words of the API.

import {
  bucketLabel,
  decodePenaltyBucket,
  type ReasonSet,
  reasonEntry,
  bucketUpperBoundDollars,
} from '@bigfleet/base';
import { CAPACITY_NAMES, type CapacityName } from '../words.ts';

export function capacityOf(code: number): CapacityName {
  return CAPACITY_NAMES[code - 1] ?? 'OnDemand';
}

export function bucketWord(bucket: number): string {
  const known = decodePenaltyBucket(bucket);
  return known === undefined ? '0' : bucketLabel(known);
}

/** Infinity is pinned. */
export function bucketDollars(bucket: number): number {
  const known = decodePenaltyBucket(bucket);
  return known === undefined ? 0 : bucketUpperBoundDollars(known);
}

/** JSON has no infinity: null is what a pinned need excludes. */
export function orExcluded(dollars: number): number | null {
  return Number.isFinite(dollars) ? dollars : null;
}

const SETS: readonly ReasonSet[] = [
  'action',
  'unmet',
  'candidate',
  'deferred',
  'skipped',
  'instruction',
];

/** The code itself when no catalogue has it: a newer shard may know more. */
export function reasonText(code: string): string {
  if (code === '') return '';
  if (code === 'chosen') return 'It was taken.';
  for (const set of SETS) {
    const entry = reasonEntry(set, code);
    if (entry !== undefined) return entry.meaning;
  }
  return code;
}
