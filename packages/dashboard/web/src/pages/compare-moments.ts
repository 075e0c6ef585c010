// What differs between two recorded moments. Both sides are whole answers of the server; here they are laid
// side by side by name, and subtracted.

import type { NeedRow, Share } from '../../../src/api/common.ts';

export interface ComparedShare {
  readonly name: string;
  readonly before: { readonly count: number; readonly dollarsPerHour: number };
  readonly after: { readonly count: number; readonly dollarsPerHour: number };
  readonly countDifference: number;
  readonly dollarsDifference: number;
}

const NONE = { count: 0, dollarsPerHour: 0 };

/** Every name of either side, in the order of the first side, then what only the second knows. */
export function compareShares(
  before: readonly Share[],
  after: readonly Share[],
): readonly ComparedShare[] {
  const then = new Map(before.map((share) => [share.name, share]));
  const now = new Map(after.map((share) => [share.name, share]));
  return [...new Set([...then.keys(), ...now.keys()])].map((name) => {
    const a = then.get(name) ?? NONE;
    const b = now.get(name) ?? NONE;
    return {
      name,
      before: a,
      after: b,
      countDifference: b.count - a.count,
      dollarsDifference: b.dollarsPerHour - a.dollarsPerHour,
    };
  });
}

/** Largest change of money first; of equal ones the larger change of machines. */
export function largestChanges(
  compared: readonly ComparedShare[],
  limit: number,
): readonly ComparedShare[] {
  return compared
    .filter((each) => each.countDifference !== 0 || Math.abs(each.dollarsDifference) >= 0.005)
    .toSorted(
      (a, b) =>
        Math.abs(b.dollarsDifference) - Math.abs(a.dollarsDifference) ||
        Math.abs(b.countDifference) - Math.abs(a.countDifference) ||
        (a.name < b.name ? -1 : 1),
    )
    .slice(0, limit);
}

export interface ComparedNeeds {
  /** Unmet after, not before: with what it was before when it was already there. */
  readonly nowUnmet: readonly NeedRow[];
  /** Unmet before, not after. */
  readonly nowMet: readonly NeedRow[];
  readonly stillUnmet: readonly NeedRow[];
}

/** Both sides are the unmet needs of their moment. */
export function compareUnmet(before: readonly NeedRow[], after: readonly NeedRow[]): ComparedNeeds {
  const then = new Set(before.map(keyOf));
  const now = new Set(after.map(keyOf));
  return {
    nowUnmet: after.filter((need) => !then.has(keyOf(need))),
    nowMet: before.filter((need) => !now.has(keyOf(need))),
    stillUnmet: after.filter((need) => then.has(keyOf(need))),
  };
}

function keyOf({ cluster, fingerprint, group }: NeedRow): string {
  return JSON.stringify([cluster, fingerprint, group]);
}
