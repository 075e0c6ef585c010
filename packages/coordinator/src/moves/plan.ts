// What one pass decided: moves to make and everything that was looked at, each with its reason. A
// plan is a value; making it changes nothing, so a dry run and an explanation are the plan itself.

import type { SelectorRow } from '../state/rows.ts';
import type { PassReason } from './pass-reasons.ts';

/** Which row of which report a decision is about. */
export interface ShortfallRef {
  readonly shardId: string;
  readonly fingerprint: string;
  readonly priority: number;
  readonly ageCycles: number;
  /** The engine's reason for the shortfall (engine §15.2), empty from an old shard. */
  readonly reasonCode: string;
}

interface MoveHead {
  readonly shortfall: ShortfallRef;
  readonly from: string;
  readonly to: string;
}

export interface IdleMove extends MoveHead {
  readonly tier: 1;
  readonly reason: 'idle_supply';
  readonly providerAddress: string;
  readonly selector: SelectorRow;
  /** What the donor had to give when it was chosen. */
  readonly fromFree: number;
}

export interface QuotaMove extends MoveHead {
  readonly tier: 2;
  readonly reason: 'unused_quota';
  readonly provider: string;
  readonly region: string;
  readonly providerAddress: string;
  readonly count: number;
  readonly fromFree: number;
}

export interface DrainMove extends MoveHead {
  readonly tier: 3;
  readonly reason: 'lower_priority_work';
  readonly providerAddress: string;
  readonly selector: SelectorRow;
  readonly fromFree: number;
}

export type Move = IdleMove | QuotaMove | DrainMove;

export interface Rejection {
  /** 0 = the row itself. */
  readonly tier: 0 | 1 | 2 | 3;
  /** Empty when no donor was looked at. */
  readonly donor: string;
  /** Address (tiers 1 and 3) or `name/region` (tier 2); empty when none was looked at. */
  readonly provider: string;
  readonly reason: PassReason;
}

export interface Considered {
  readonly shortfall: ShortfallRef;
  readonly move: Move | undefined;
  readonly rejections: readonly Rejection[];
}

export interface Plan {
  readonly moves: readonly Move[];
  readonly considered: readonly Considered[];
  /** Rejections beyond the bound of what one plan keeps. */
  readonly droppedRejections: number;
  /** Rows for which tiers 1 and 2 found no supply anywhere: input of the next pass. */
  readonly exhausted: ReadonlySet<string>;
}
