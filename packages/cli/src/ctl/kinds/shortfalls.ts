// Demand that no shard could serve, one row per profile: the whole ledgers of the shards, not the
// hundred rows that each of them reports.

import type { ShortfallView } from '@bigfleet/wire';
import { penaltyText, pairsText, utcTime } from '../output/text.ts';
import { collect, defineKind, fromShards, type Kind, onlyOne } from './kind.ts';
import { shortNeed } from './need-name.ts';
import { requirementText } from './needs.ts';

function shortfallRow(view: ShortfallView, shard: string) {
  const { shortfall } = view;
  return {
    /** Short form of the profile. */
    need: shortNeed(view.profileFingerprint, ''),
    fingerprint: view.profileFingerprint,
    shard,
    priority: shortfall?.priority ?? 0,
    deficit: { ...shortfall?.deficit?.resources },
    minUnit: { ...shortfall?.minUnit?.resources },
    ageCycles: shortfall?.ageCycles ?? 0,
    firstUnmet: utcTime(view.firstUnmetUnixNanos) ?? null,
    reason: shortfall?.reasonCode ?? '',
    /** The coordinator may move machines for it. */
    escalated: shortfall?.escalate ?? false,
    topologyConstrained: shortfall?.topologyConstrained ?? false,
    requirements: (shortfall?.requirements ?? []).map(requirementText),
    interruptionPenalty: penaltyText(shortfall?.interruptionPenaltyBucket ?? 0),
    clusters: view.clusterIds,
    clusterCount: view.clusterCount,
  };
}

type ShortfallRow = ReturnType<typeof shortfallRow>;

const CLUSTERS_SHOWN = 2;

function clustersText({ clusters, clusterCount }: ShortfallRow): string {
  const shown = clusters.slice(0, CLUSTERS_SHOWN);
  const rest = clusterCount - shown.length;
  return `${shown.join(',')}${rest > 0 ? `+${rest}` : ''}`;
}

export const shortfalls: Kind = defineKind<ShortfallRow>({
  plural: 'shortfalls',
  columns: [
    { title: 'NEED', of: ({ need }) => need },
    { title: 'PRIORITY', of: ({ priority }) => String(priority) },
    { title: 'DEFICIT', of: ({ deficit }) => pairsText(deficit) },
    {
      title: 'AGE',
      of: ({ ageCycles }) => `${ageCycles}c`,
      tone: ({ escalated }) => (escalated ? 'bad' : 'warn'),
    },
    { title: 'REASON', of: ({ reason }) => reason },
    { title: 'CLUSTERS', of: clustersText },
    { title: 'SHARD', of: ({ shard }) => shard },
    { title: 'ESCALATED', of: ({ escalated }) => (escalated ? 'yes' : 'no'), isWide: true },
    { title: 'SINCE', of: ({ firstUnmet }) => firstUnmet ?? '', isWide: true },
    { title: 'REQUIREMENTS', of: ({ requirements }) => requirements.join(' '), isWide: true },
  ],
  filters: ['cluster'],
  rows: fromShards({
    feature: 'list shortfalls',
    ask: ({ query: api }, call, { clusters, limit }) => {
      const request = { clusterId: onlyOne(clusters), limit: clusters.length > 1 ? 0 : limit };
      return collect(api.listShortfalls(request, call));
    },
    rows: (views, shard, { query: { clusters } }) =>
      views
        .filter(
          ({ clusterIds: ids }) => clusters.length < 2 || ids.some((id) => clusters.includes(id)),
        )
        .map((view) => shortfallRow(view, shard)),
  }),
  isNamed: ({ need, fingerprint }, name) => need === name || fingerprint === name,
});
