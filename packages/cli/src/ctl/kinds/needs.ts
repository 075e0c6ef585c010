// Needs with the verdict of the last cycle (ShardRead).

import { ok } from '@bigfleet/base';
import {
  type CallOptions,
  type NeedView,
  type NodeSelectorRequirement,
  Operator,
  UnmetReason,
} from '@bigfleet/wire';
import type { ShardApi } from '../connect/shards.ts';
import { countText, enumName, penaltyText, pairsText, utcTime } from '../output/text.ts';
import { defineKind, fromShards, isOfCluster, type Kind, type ListQuery, onlyOne } from './kind.ts';
import { isNamedNeed, type NeedRef, parseNeedName, shortNeed } from './need-name.ts';

function needRow(view: NeedView, shard: string) {
  const { need, matchingSupply: supply } = view;
  const short = shortNeed(view.profileFingerprint, need?.group ?? '');
  return {
    /** `<cluster>/<need>`, as `explain need` and `describe need` take it. */
    name: `${view.clusterId}/${short}`,
    cluster: view.clusterId,
    shard,
    /** Short form. */
    need: short,
    fingerprint: view.profileFingerprint,
    group: need?.group ?? '',
    priority: need?.priority ?? 0,
    satisfied: view.satisfied,
    resources: { ...need?.aggregateResources },
    minUnit: { ...need?.minUnit },
    deficit: { ...view.residualDeficit?.resources },
    claimedMachines: view.claimedMachineCount,
    bootstrapping: view.bootstrapCount,
    provisioning: view.provisionCount,
    reason: view.satisfied ? '' : reasonOf(view),
    ageCycles: view.ageCyclesUnmet,
    requirements: (need?.requirements ?? []).map(requirementText),
    spread: (need?.spread ?? []).map(({ topologyKey, maxSkew }) => `${topologyKey}≤${maxSkew}`),
    interruptionPenalty: penaltyText(need?.interruptionPenaltyBucket ?? 0),
    reclamationPenalty: penaltyText(need?.reclamationPenaltyBucket ?? 0),
    arrived: utcTime(view.arrivalUnixNanos) ?? null,
    domain: view.sameDomain,
    parked: view.acquisitionParked,
    parkedAgeCycles: view.parkedAgeCycles,
    matchingSupply:
      supply === undefined
        ? null
        : {
            idle: supply.idle,
            configured: supply.configured,
            speculative: supply.speculative,
            capped: supply.capped,
          },
    victims: view.preemption?.victimsFound ?? 0,
    domains: view.sameCandidates.map(
      ({ domain, coveragePerMille }) => `${domain}=${coveragePerMille / 10}%`,
    ),
  };
}

type NeedRow = ReturnType<typeof needRow>;

/** The fine code; a shard that knows none tells the established reason. */
function reasonOf({ reasonCode, unmetReason }: NeedView): string {
  if (reasonCode !== '') return reasonCode;
  return unmetReason === UnmetReason.UNSPECIFIED ? '' : enumName(UnmetReason, unmetReason);
}

/** `zone in (a,b)`, `gpu exists`, `rack same`. */
export function requirementText({ key, operator, values }: NodeSelectorRequirement): string {
  const name = enumName(Operator, operator).replaceAll('_', ' ');
  return values.length === 0 ? `${key} ${name}` : `${key} ${name} (${values.join(',')})`;
}

interface Needs {
  readonly cycle: bigint;
  readonly total: number;
  readonly views: readonly NeedView[];
}

export async function fetchNeeds(
  api: ShardApi,
  call: CallOptions,
  query: ListQuery,
): Promise<Needs> {
  const { clusters } = query;
  const isOurs = clusters.length > 1;
  let header = { cycle: 0n, totalNeeds: 0 };
  const views: NeedView[] = [];
  const request = { clusterId: onlyOne(clusters), limit: isOurs ? 0 : query.limit };
  for await (const { frame } of api.read.inspectNeeds(request, call)) {
    if (frame.case === 'header') header = frame.value;
    if (frame.case === 'need' && isOfCluster(query, frame.value.clusterId)) views.push(frame.value);
  }
  return { cycle: header.cycle, total: isOurs ? views.length : header.totalNeeds, views };
}

/** Cycle 0 is "not computed yet", never "no demand". */
function incompleteness({ cycle, total, views }: Needs): string | undefined {
  if (cycle === 0n) return 'no cycle has run yet, so nothing is known about its needs';
  return views.length < total
    ? `${countText(views.length)} of ${countText(total)} needs, as --limit says`
    : undefined;
}

export const needs: Kind = defineKind<NeedRow>({
  plural: 'needs',
  columns: [
    { title: 'NEED', of: ({ name }) => name },
    { title: 'PRIORITY', of: ({ priority }) => String(priority) },
    {
      title: 'SATISFIED',
      of: ({ satisfied }) => (satisfied ? 'yes' : 'no'),
      tone: ({ satisfied }) => (satisfied ? 'good' : 'bad'),
    },
    { title: 'DEFICIT', of: ({ deficit }) => pairsText(deficit) },
    { title: 'CLAIMED', of: ({ claimedMachines }) => String(claimedMachines) },
    { title: 'REASON', of: ({ reason }) => reason },
    { title: 'AGE', of: ({ ageCycles }) => (ageCycles === 0 ? '' : `${ageCycles}c`) },
    { title: 'CLUSTER', of: ({ cluster }) => cluster, isWide: true },
    { title: 'GROUP', of: ({ group }) => group, isWide: true },
    { title: 'RESOURCES', of: ({ resources }) => pairsText(resources), isWide: true },
    { title: 'REQUIREMENTS', of: ({ requirements }) => requirements.join(' '), isWide: true },
    { title: 'DOMAIN', of: ({ domain }) => domain, isWide: true },
    { title: 'SHARD', of: ({ shard }) => shard, isWide: true },
  ],
  filters: ['cluster'],
  rows: fromShards({
    feature: 'inspect needs',
    ask: fetchNeeds,
    rows: ({ views }, shard) => views.map((view) => needRow(view, shard)),
    note: incompleteness,
  }),
  narrow: (text) => {
    const name = parseNeedName(text);
    return name.ok ? ok({ clusters: [name.value.clusterId] }) : name;
  },
  isNamed: (row, text) => {
    const name = parseNeedName(text);
    return name.ok && isNamedNeed(name.value, refOf(row));
  },
  subjectOf: (row) => ({ case: 'need', value: refOf(row) }),
});

function refOf({ cluster, fingerprint, group }: NeedRow): NeedRef {
  return { clusterId: cluster, profileFingerprint: fingerprint, group };
}
