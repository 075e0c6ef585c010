// The offerings without a file: `--seed-count` slots spread over the provider's buckets, the rest
// of the division to the first ones.

import type { CapacityTypeName } from '../../model/machine.ts';
import type { Offering } from './offering.ts';

export interface MixBucket {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityTypeName;
}

const RESOURCES: ReadonlyMap<string, string> = new Map([
  ['cpu', '1'],
  ['memory', '2Gi'],
]);
const NONE: ReadonlyMap<string, never> = new Map<string, never>();

export function defaultMix(buckets: readonly MixBucket[], seedCount: number): readonly Offering[] {
  const share = Math.floor(seedCount / buckets.length);
  const rest = seedCount % buckets.length;
  return buckets
    .map((bucket, index) => ({
      ...bucket,
      count: share + (index < rest ? 1 : 0),
      resources: RESOURCES,
      labels: NONE,
      pricePerHour: undefined,
      extra: NONE,
    }))
    .filter((offering) => offering.count > 0);
}
