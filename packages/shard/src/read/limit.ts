// A reader's limit: 0 is none, a negative one is a mistake that must not pass for none.

import { BigFleetError } from '@bigfleet/base';

export function limitOf(limit: number): number {
  if (limit < 0) throw new BigFleetError('read_request_invalid', `limit: ${limit} is negative`);
  return limit === 0 ? Number.POSITIVE_INFINITY : limit;
}
