// Raw dollars become a bucket here, exactly once in the whole system (kubernetes §0 rule 7). Absent
// is Zero, not "unspecified": otherwise an absent penalty and an explicit 0 would be two needs.

import {
  bucketOfDollars,
  err,
  ok,
  type PenaltyBucket,
  parseQuantity,
  type Result,
  ZERO_BUCKET,
} from '@bigfleet/base';
import type { RawQuantity } from './capacity-request.ts';
import { type Refusal, shown } from './refusal.ts';

const NANOS_PER_DOLLAR = 1e9;

export function bucketOfPenalty(
  field: 'interruptionPenalty' | 'reclamationPenalty',
  raw: RawQuantity | undefined,
): Result<PenaltyBucket, Refusal> {
  if (raw === undefined) return ok(ZERO_BUCKET);
  const parsed = parseQuantity(String(raw));
  if (!parsed.ok) {
    return err({ reason: 'bad_penalty', problem: `${field} ${shown(raw)} is no quantity` });
  }
  // Through a float, so that 500m stays half a dollar. Up to the last bound every nano is exact
  // or rounds to the same side of the bound; beyond it everything is Pinned.
  return ok(bucketOfDollars(Number(parsed.value.nanos) / NANOS_PER_DOLLAR));
}
