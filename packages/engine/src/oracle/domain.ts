// Engine §5.4 and §5.5: the buckets of a Same need, and the strict total order that chooses one.
// Reads current state only: a remembered choice would be a second ledger of supply.

import { compareText } from '@bigfleet/base';
import { SAME_CANDIDATES_SHOWN, type DomainCoverage } from '../model/cycle.ts';
import type { Machine } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import { add, covers, noResources, type Resources } from '../model/resources.ts';
import { isOwn, sameValueOf } from './rules.ts';

/** Everything that one need could use in one domain. */
export interface Bucket {
  readonly value: string;
  count: number;
  creditableCount: number;
  total: Resources;
  creditableTotal: Resources;
  creditableOwnTotal: Resources;
  readonly creditable: Machine[];
}

/** `creditable` in crediting order; both lists are already filtered. */
export function bucketize(
  need: Need,
  creditable: readonly Machine[],
  acquirable: readonly Machine[],
): Bucket[] {
  const buckets = new Map<string, Bucket>();
  for (const machine of creditable) {
    const bucket = bucketOf(buckets, machine, need);
    if (bucket === undefined) continue;
    bucket.count++;
    bucket.creditableCount++;
    bucket.total = add(bucket.total, machine.allocatable);
    bucket.creditableTotal = add(bucket.creditableTotal, machine.allocatable);
    if (isOwn(machine, need)) {
      bucket.creditableOwnTotal = add(bucket.creditableOwnTotal, machine.allocatable);
    }
    bucket.creditable.push(machine);
  }
  for (const machine of acquirable) {
    const bucket = bucketOf(buckets, machine, need);
    if (bucket === undefined) continue;
    bucket.count++;
    bucket.total = add(bucket.total, machine.allocatable);
  }
  return [...buckets.values()];
}

function bucketOf(buckets: Map<string, Bucket>, machine: Machine, need: Need): Bucket | undefined {
  const value = sameValueOf(machine, need);
  if (value === undefined) return undefined;
  const known = buckets.get(value);
  if (known !== undefined) return known;
  const bucket: Bucket = {
    value,
    count: 0,
    creditableCount: 0,
    total: noResources,
    creditableTotal: noResources,
    creditableOwnTotal: noResources,
    creditable: [],
  };
  buckets.set(value, bucket);
  return bucket;
}

/** Best first; the chosen domain is the head. The deficit is the need's full aggregate. */
export function rankBuckets(buckets: readonly Bucket[], deficit: Resources): Bucket[] {
  return [...buckets].sort((a, b) => compareBuckets(a, b, deficit));
}

/** Locked (engine §5.4). Negative when `a` is preferred; never 0 for two different values. */
function compareBuckets(a: Bucket, b: Bucket, deficit: Resources): number {
  const aSatisfiable = covers(a.total, deficit);
  const bSatisfiable = covers(b.total, deficit);
  // Rule 1.
  if (aSatisfiable !== bSatisfiable) return aSatisfiable ? -1 : 1;
  const capped = (x: Resources): number => ratio(x, deficit, true);
  const uncapped = (x: Resources): number => ratio(x, deficit, false);
  const preference = aSatisfiable
    ? // Rules 2, 2b and 3.
      capped(b.creditableTotal) - capped(a.creditableTotal) ||
      capped(b.creditableOwnTotal) - capped(a.creditableOwnTotal) ||
      // Ours: where credit alone covers, only credit is weighed (docs/adr/0064). Otherwise a
      // machine that a preemption frees moves the choice, and the next one moves it back.
      (covers(a.creditableTotal, deficit) && covers(b.creditableTotal, deficit)
        ? uncapped(a.creditableTotal) - uncapped(b.creditableTotal)
        : uncapped(a.total) - uncapped(b.total))
    : // Rules 4 and 5, and ours: what 2b is for satisfiable domains. Without it, gangs that no
      // domain can hold take each other's racks for ever (docs/adr/0064).
      capped(b.total) - capped(a.total) ||
      capped(b.creditableTotal) - capped(a.creditableTotal) ||
      capped(b.creditableOwnTotal) - capped(a.creditableOwnTotal);
  // Rules 6 and 7.
  return preference || b.count - a.count || compareText(a.value, b.value);
}

/**
 * Sum over the deficit's dimensions, in name order: floating sums depend on their order, and
 * the order in which a wire message listed its resources must not move a gang.
 */
function ratio(x: Resources, deficit: Resources, isCapped: boolean): number {
  let sum = 0;
  for (const name of [...deficit.keys()].sort(compareText)) {
    const term = (x.get(name) ?? 0) / (deficit.get(name) ?? 1);
    sum += isCapped ? Math.min(1, term) : term;
  }
  return sum;
}

/** Engine §5.10, observation only: the chooser's own order, worst dimension of each. */
export function domainCoverages(
  ranked: readonly Bucket[],
  deficit: Resources,
): readonly DomainCoverage[] {
  return ranked.slice(0, SAME_CANDIDATES_SHOWN).map((bucket) => ({
    domain: bucket.value,
    coveragePerMille: coveragePerMille(bucket.total, deficit),
    satisfiable: covers(bucket.total, deficit),
  }));
}

/** Rounded down, in whole numbers: a thousand times 2⁵³ is no exact double. */
function coveragePerMille(total: Resources, deficit: Resources): number {
  let worst = 1000;
  for (const [name, wanted] of deficit) {
    const share = (BigInt(total.get(name) ?? 0) * 1000n) / BigInt(wanted);
    worst = Math.min(worst, Number(share));
  }
  return worst;
}
