// A penalty bucket as dollars; what a newer server might send keeps its number.

import { bucketLabel, decodePenaltyBucket } from '@bigfleet/base';

export function penaltyText(wireValue: number): string {
  const bucket = decodePenaltyBucket(wireValue);
  return bucket === undefined ? `bucket(${wireValue})` : bucketLabel(bucket);
}
