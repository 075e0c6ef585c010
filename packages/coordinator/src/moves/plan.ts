// What one pass decided: moves to make and everything that was looked at, each with its reason. A
// plan is a value; making it changes nothing, so a dry run and an explanation are the plan itself.

import type { SelectorRow } from '../state/rows.ts';

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
  readonly providerAddress: string;
  /** What the donor had to give when it was chosen. */
  readonly fromFree: number;
}

export interface IdleMove extends MoveHead {
  readonly tier: 1;
  readonly reason: 'idle_supply';
  readonly selector: SelectorRow;
}

export interface QuotaMove extends MoveHead {
  readonly tier: 2;
  readonly reason: 'unused_quota';
  readonly provider: string;
  readonly region: string;
  readonly count: number;
}

export interface DrainMove extends MoveHead {
  readonly tier: 3;
  readonly reason: 'lower_priority_work';
  readonly selector: SelectorRow;
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

// Why the rebalancer proposed a move or left it. Recorded where the decision is made, printed by
// dry run and explain; nothing derives a reason afterwards. Codes are stable, texts are for people.

/** The row is not answered at all. */
const rowRejections = {
  age_below_gate: 'The shortfall is too young; its own shard may still cover it.',
  topology_constrained: 'Co-located demand never crosses a shard boundary.',
  recipient_stale: 'The short shard has not reported lately.',
  recipient_busy: 'The short shard already receives a transfer.',
  no_deficit: 'The shortfall names nothing that is missing.',
  moves_exhausted: 'The pass has made as many moves as it may.',
  ledger_full: 'The ledger holds as many transfers as it may; remove shards that are gone.',
};
export type RowRejection = keyof typeof rowRejections;

/** A tier is closed to the row, whoever the donor. */
const tierRejections = {
  no_min_unit: 'The shard does not say what one machine must hold.',
  no_shared_provider: 'No provider of the short shard is shared with another shard.',
  override_limit: 'The ledger holds as many ownership overrides as are allowed.',
  not_quota_bound: 'The shortfall is not caused by a quota slice.',
  age_below_preempt_gate: 'The shortfall is too young to interrupt running work elsewhere.',
  cheaper_tiers_open: 'Idle machines or quota were found in this pass or the last one.',
  no_lower_bucket: 'No work is cheaper to interrupt than the demand itself.',
  drain_outstanding: 'Machines are being drained for this shard already.',
  victims_exhausted: 'The pass has asked for as many drains as it may.',
};
export type TierRejection = keyof typeof tierRejections;

/** One donor, for one provider, is passed over. */
const donorRejections = {
  donor_stale: 'The donor has not reported lately.',
  donor_short: 'The donor is short itself, at this priority or above.',
  donor_busy: 'The donor already gives in another transfer.',
  donor_ranked_lower: 'Another donor has more to give.',
  donor_refused: 'The donor looked a short while ago and has no such machine.',
  flow_cooling: 'These two shards exchanged such machines a short while ago.',
  queue_full: 'The donor has too many unacknowledged instructions.',
  no_idle_above_margin: 'The donor has no idle machine beyond the margin that it keeps.',
  no_matching_type: 'The donor has no machine of the instance type asked for.',
  no_matching_zone: 'The donor has no machine in the zone asked for.',
  no_unused_slice: 'The donor uses its slice of the quota, up to the margin that it keeps.',
  region_excluded: 'The shortfall excludes the region of this quota.',
  owner_recovering: 'What one of the two shards owns is being rebuilt after a restore.',
  provider_conflicted: 'A shard uses this provider without declaring it shared.',
  provider_not_shared: 'The donor does not declare its provider shared.',
};
export type DonorRejection = keyof typeof donorRejections;

export type PassReason = Move['reason'] | RowRejection | TierRejection | DonorRejection;

export const passReasonMeanings: Readonly<Record<PassReason, string>> = {
  idle_supply: 'The donor has idle machines above its margin.',
  unused_quota: 'The donor holds a slice of provider quota that it does not use.',
  lower_priority_work: 'Only work of lower priority on the donor can make room.',
  ...rowRejections,
  ...tierRejections,
  ...donorRejections,
};
