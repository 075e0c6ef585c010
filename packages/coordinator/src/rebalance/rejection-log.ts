// Rejections of one pass, recorded where they happen. At two hundred shards with a hundred rows each
// there are millions; a plan keeps the first of them and counts the rest, so that explaining never
// costs more than deciding.

import type { PassReason } from '../moves/pass-reasons.ts';
import type { Rejection } from '../moves/plan.ts';

const MAX_KEPT = 20_000;

export class RejectionLog {
  #kept = 0;
  #dropped = 0;
  #row: Rejection[] = [];

  get dropped(): number {
    return this.#dropped;
  }

  reject(tier: Rejection['tier'], reason: PassReason, donor = '', provider = ''): void {
    if (this.#kept >= MAX_KEPT) {
      this.#dropped += 1;
      return;
    }
    this.#kept += 1;
    this.#row.push({ tier, donor, provider, reason });
  }

  /** What was recorded since the last call. */
  takeRow(): readonly Rejection[] {
    const row = this.#row;
    this.#row = [];
    return row;
  }
}
