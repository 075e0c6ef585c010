// Ids of requests and instructions: 8 unpredictable bytes as 16 hex characters, because an operator
// that could guess another cluster's id could answer for it (security §7, row 9).

import type { Entropy } from '@bigfleet/base';

const ID_BYTES = 8;

export function newFrameId(entropy: Entropy): string {
  return Buffer.from(entropy.bytes(ID_BYTES)).toString('hex');
}
