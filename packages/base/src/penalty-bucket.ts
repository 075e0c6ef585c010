// Penalty buckets and effective cost (engine §1.6, locked: neither configurable nor pluggable).
// Buckets are powers of two between $0.50 and 2²³ dollars plus Zero and Pinned, so that demand
// does not fall apart into one row per distinct dollar value. A bucket stands for its upper
// bound: a deliberate over-estimate that prefers safer capacity. Wire value 0 never gets past
// the decoder, and a number outside 0–27 is refused, not guessed.

import { assert } from './assert.ts';
import type { Brand } from './ids.ts';

/** 1 (Zero) to 27 (Pinned), as in the wire enum. */
export type PenaltyBucket = number & Brand<'PenaltyBucket'>;

export const ZERO_BUCKET: PenaltyBucket = 1 as PenaltyBucket;
export const HALF_DOLLAR_BUCKET: PenaltyBucket = 2 as PenaltyBucket;
export const PINNED_BUCKET: PenaltyBucket = 27 as PenaltyBucket;

/** Upper bounds by bucket number; index 0 is the wire's unspecified value, which means Zero. */
const UPPER_BOUND_DOLLARS: Float64Array = buildUpperBounds();

export const PENALTY_BUCKETS: readonly PenaltyBucket[] = Array.from(
  { length: PINNED_BUCKET },
  (_, index) => (index + 1) as PenaltyBucket,
);

/** Undefined for anything but the integers 0–27: the roll-up is then refused as `bad_bucket`. */
export function decodePenaltyBucket(wireValue: number): PenaltyBucket | undefined {
  if (!Number.isInteger(wireValue) || wireValue < 0 || wireValue > PINNED_BUCKET) return undefined;
  return wireValue === 0 ? ZERO_BUCKET : (wireValue as PenaltyBucket);
}

/** The smallest bucket whose upper bound covers the amount; NaN is Pinned, the safe reading. */
export function bucketOfDollars(dollars: number): PenaltyBucket {
  if (dollars <= 0) return ZERO_BUCKET;
  for (const bucket of PENALTY_BUCKETS) {
    if (dollars <= bucketUpperBoundDollars(bucket)) return bucket;
  }
  return PINNED_BUCKET;
}

export function bucketUpperBoundDollars(bucket: PenaltyBucket): number {
  const dollars = UPPER_BOUND_DOLLARS[bucket];
  assert(dollars !== undefined && bucket >= 1, 'no such penalty bucket', { bucket });
  return dollars;
}

/** Dollars as text for metric labels and people: `0`, `0.5`, `1` … `8388608`, `pinned`. */
export function bucketLabel(bucket: PenaltyBucket): string {
  const dollars = bucketUpperBoundDollars(bucket);
  return dollars === Number.POSITIVE_INFINITY ? 'pinned' : String(dollars);
}

/** probability × penalty, with 0 × ∞ = 0: a machine that is never interrupted suits Pinned. */
export function interruptionTerm(probability: number, penaltyDollars: number): number {
  if (probability === 0 || penaltyDollars <= 0) return 0;
  return probability * penaltyDollars;
}

/** Dollars per hour. +∞ means: no candidate for this Need, in acquisition and as a victim. */
export function effectiveCost(
  pricePerHour: number,
  interruptionProbability: number,
  penaltyDollars: number,
): number {
  return pricePerHour + interruptionTerm(interruptionProbability, penaltyDollars);
}

function buildUpperBounds(): Float64Array {
  const bounds = new Float64Array(PINNED_BUCKET + 1);
  for (let bucket = HALF_DOLLAR_BUCKET; bucket < PINNED_BUCKET; bucket++) {
    bounds[bucket] = 2 ** (bucket - 3);
  }
  bounds[PINNED_BUCKET] = Number.POSITIVE_INFINITY;
  return bounds;
}
