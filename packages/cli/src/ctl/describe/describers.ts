// How each kind is found by its name among the rows of its listing, and what else is told about it.

import type { Links } from '../frame/links.ts';
import { listBrakes } from '../listings/brakes.ts';
import { listClusters } from '../listings/clusters.ts';
import { listDomains } from '../listings/domains.ts';
import type { Kind } from '../listings/kinds.ts';
import type { ListAsk, Listing, ListQuery } from '../listings/listing.ts';
import { fetchMachines } from '../listings/machines.ts';
import { listNeeds } from '../listings/needs.ts';
import { parseNeedName } from '../listings/need-name.ts';
import { listProviders } from '../listings/providers.ts';
import { listQuotas } from '../listings/quotas.ts';
import { listSessions } from '../listings/sessions.ts';
import { listShardStatuses } from '../listings/shards.ts';
import { listShortfalls } from '../listings/shortfalls.ts';
import { listTransfers } from '../listings/transfers.ts';
import { listFromShards, shardLabel } from '../listings/from-shards.ts';
import { machineColumns, type MachineRow, machineRow } from '../tables/machines.ts';
import type { NeedRow } from '../tables/needs.ts';
import type { Explained } from '../explain/explain-report.ts';
import { askExplanation, type ExplainAsk } from '../explain/ask-explanation.ts';

export interface Found {
  readonly row: object;
  /** The newest decision about it, where records tell. */
  readonly decision: Explained | undefined;
}

export interface Search {
  readonly found: readonly Found[];
  readonly problems: readonly string[];
}

export type Describer = (ask: ListAsk, id: string) => Promise<Search>;

/** Looks through a listing; `narrow` spares rows that cannot be meant. */
function among<Row extends object>(
  listing: Listing<Row>,
  isNamed: (row: Row, id: string) => boolean,
  narrow: (id: string) => Partial<ListQuery> = () => ({}),
): Describer {
  return async (ask, id) => {
    const query = { ...ask.query, ...narrow(id) };
    const { rows, problems } = await listing({ ...ask, query });
    const named = rows.filter((row) => isNamed(row, id));
    return { found: named.map((row) => ({ row, decision: undefined })), problems };
  };
}

const describeMachine: Describer = async (ask, id) => {
  const { rows, problems } = await listFromShards<
    Awaited<ReturnType<typeof fetchMachines>>,
    MachineRow
  >(ask, {
    feature: 'list machines',
    columns: machineColumns,
    work: (api, call) => fetchMachines(api, call, ask.query, [id]),
    rowsOf: ({ shard, value }) =>
      value.views.map((view) => machineRow(view, shardLabel(shard), ask.nowUnixNanos)),
  });
  const subject = { case: 'machineId', value: id } as const;
  return withDecisions(ask, rows, problems, () => subject);
};

const describeNeed: Describer = async (ask, id) => {
  const name = parseNeedName(id);
  if (!name.ok) return { found: [], problems: [name.error] };
  const { value } = name;
  const cluster = value.kind === 'exact' ? value.ref.clusterId : value.clusterId;
  const query = { ...ask.query, clusters: [cluster], limit: 0 };
  const { rows, problems } = await listNeeds({ ...ask, query });
  const named = rows.filter((row) =>
    value.kind === 'short'
      ? row.need === value.short
      : row.fingerprint === value.ref.profileFingerprint && row.group === value.ref.group,
  );
  return withDecisions(ask, named, problems, ({ fingerprint, group }: NeedRow) => ({
    case: 'need',
    value: { clusterId: cluster, profileFingerprint: fingerprint, group },
  }));
};

async function withDecisions<Row extends { readonly shard: string }>(
  { links, query }: ListAsk,
  rows: readonly Row[],
  problems: readonly string[],
  subjectOf: (row: Row) => ExplainAsk['subject'],
): Promise<Search> {
  const found: Found[] = [];
  for (const row of rows) {
    found.push({ row, decision: await decisionAbout(links, query, row.shard, subjectOf(row)) });
  }
  return { found, problems };
}

async function decisionAbout(
  links: Links,
  { shards: ids, addresses }: ListQuery,
  shard: string,
  subject: ExplainAsk['subject'],
): Promise<Explained | undefined> {
  const targets = await links.shards.find({ ids, addresses });
  const holding = targets.filter((target) => shardLabel(target) === shard);
  const ask = { subject, cycle: 0n, counterfactuals: false };
  return (await askExplanation(links, holding, ask)).newest;
}

export const DESCRIBERS: Readonly<Record<Kind, Describer>> = {
  machines: describeMachine,
  needs: describeNeed,
  shortfalls: among(listShortfalls, (row, id) => row.need === id || row.fingerprint === id),
  brakes: among(listBrakes, (row, id) => row.name === id),
  sessions: among(listSessions, (row, id) => row.cluster === id),
  clusters: among(
    listClusters,
    (row, id) => row.cluster === id,
    (id) => ({ clusters: [id] }),
  ),
  shards: among(
    listShardStatuses,
    (row, id) => row.shard === id,
    (id) => ({ shards: [id] }),
  ),
  domains: among(
    listDomains,
    ({ topologyKey, topologyValue }, id) => `${topologyKey}=${topologyValue}` === id,
  ),
  quotas: among(listQuotas, ({ provider, region }, id) => `${provider}/${region}` === id),
  providers: among(listProviders, (row, id) => row.name === id),
  transfers: among(listTransfers(true), (row, id) => row.transfer === id),
};
