// Tier 2: a slice of provider quota that another shard does not use. Answers only shortfalls that a
// slice causes; raising the slice of a shard that lacks something else would change nothing. The
// slice of the recipient rises only after the donor confirmed its own to be lower (transfers/).

import { compareText } from '@bigfleet/base';
import { flowOf } from '../moves/cooldowns.ts';
import type { DonorRejection, Move } from '../moves/plan.ts';
import type { QuotaRow, SliceRow } from '../state/rows.ts';
import { spareOf } from './donors.ts';
import {
  type Asked,
  type Found,
  isEitherRecovering,
  type PassContext,
  passingRejection,
} from './pass-context.ts';
import { allowsRegion, missingUnits } from './selector.ts';

interface Offer {
  readonly quota: QuotaRow;
  readonly donor: string;
  readonly spare: number;
  readonly providerAddress: string;
}

export function findQuota(context: PassContext, asked: Asked): Found {
  const { input, log } = context;
  if (asked.row.ref.reasonCode !== 'quota_exhausted') {
    log.reject(2, 'not_quota_bound');
    return { kind: 'none', isPassing: false };
  }
  const search = { offers: [] as Offer[], wasPassing: false };
  for (const quota of input.state.quotas()) {
    if (hasSlice(quota, asked.row.ref.shardId)) collectOffers(context, asked, quota, search);
  }
  const [best, ...others] = search.offers.toSorted(byWorth);
  for (const { donor, quota } of others) {
    log.reject(2, 'donor_ranked_lower', donor, nameOf(quota));
  }
  if (best === undefined) return { kind: 'none', isPassing: search.wasPassing };
  return { kind: 'move', move: quotaMove(context, asked, best) };
}

/** A shard without a slice is uncapped: it cannot be short of one. */
function hasSlice(quota: QuotaRow, shardId: string): boolean {
  return quota.slices.some((slice) => slice.shardId === shardId);
}

function collectOffers(
  context: PassContext,
  asked: Asked,
  quota: QuotaRow,
  search: { offers: Offer[]; wasPassing: boolean },
): void {
  const providerAddress = context.input.state.provider(quota.provider)?.address ?? '';
  for (const slice of quota.slices) {
    if (slice.shardId === asked.row.ref.shardId) continue;
    const flow = flowOf({
      kind: `quota:${nameOf(quota)}`,
      instanceType: '',
      zone: '',
      from: slice.shardId,
      to: asked.row.ref.shardId,
    });
    const spare = spareSlice(context, quota, slice);
    const lasting = offerRejection(context, asked, { quota, donor: slice.shardId, spare });
    const reason = lasting ?? passingRejection(context, slice.shardId, flow);
    search.wasPassing ||= lasting === undefined && reason !== undefined;
    if (reason !== undefined) context.log.reject(2, reason, slice.shardId, nameOf(quota));
    else search.offers.push({ quota, donor: slice.shardId, spare, providerAddress });
  }
}

function offerRejection(
  context: PassContext,
  asked: Asked,
  offer: Pick<Offer, 'quota' | 'donor' | 'spare'>,
): DonorRejection | undefined {
  const { input, fleet } = context;
  const donor = fleet.members.get(offer.donor);
  const address = input.state.provider(offer.quota.provider)?.address ?? '';
  if (!allowsRegion(asked.pins, offer.quota.region)) return 'region_excluded';
  if (fleet.conflicted.has(address)) return 'provider_conflicted';
  if (address === '' || donor === undefined || !donor.isFresh) return 'donor_stale';
  if (isEitherRecovering(context, asked, donor)) return 'owner_recovering';
  // Only shards that speak of sharing understand the instruction.
  if (!donor.picture.report.providerShared) return 'provider_not_shared';
  if (donor.highestPriority >= asked.row.ref.priority) return 'donor_short';
  return offer.spare > 0 ? undefined : 'no_unused_slice';
}

/** A shard that does not dial the provider by this name gives no use to measure, and nothing. */
function spareSlice({ input, fleet }: PassContext, quota: QuotaRow, slice: SliceRow): number {
  const dialled = fleet.members
    .get(slice.shardId)
    ?.providers.find((provider) => provider.name === quota.provider);
  if (dialled === undefined) return 0;
  return spareOf(Math.max(0, slice.slice - dialled.heldCount), 0, input.settings.donorMargin);
}

function quotaMove({ input }: PassContext, asked: Asked, offer: Offer): Move {
  const wanted = missingUnits(asked.row.shortfall) ?? input.settings.maxMachines;
  return {
    tier: 2,
    reason: 'unused_quota',
    shortfall: asked.row.ref,
    from: offer.donor,
    to: asked.row.ref.shardId,
    provider: offer.quota.provider,
    region: offer.quota.region,
    providerAddress: offer.providerAddress,
    count: Math.max(1, Math.min(input.settings.maxMachines, offer.spare, wanted)),
    fromFree: offer.spare,
  };
}

function byWorth(a: Offer, b: Offer): number {
  return (
    b.spare - a.spare ||
    compareText(a.donor, b.donor) ||
    compareText(nameOf(a.quota), nameOf(b.quota))
  );
}

function nameOf(quota: QuotaRow): string {
  return `${quota.provider}/${quota.region}`;
}
