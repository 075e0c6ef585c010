// Needs of all clusters with their verdicts.

import type { CallOptions, NeedView } from '@bigfleet/wire';
import type { ShardApi } from '../connect/shards.ts';
import { countText } from '../output/texts.ts';
import { type NeedRow, needColumns, needRow } from '../tables/needs.ts';
import { listFromShards, shardLabel } from './from-shards.ts';
import type { Listing, ListQuery } from './listing.ts';

interface Needs {
  readonly cycle: bigint;
  readonly total: number;
  readonly views: readonly NeedView[];
}

export const listNeeds: Listing<NeedRow> = (ask) =>
  listFromShards(ask, {
    feature: 'inspect needs',
    columns: needColumns,
    work: (api, call) => fetchNeeds(api, call, ask.query),
    rowsOf: ({ shard, value }) => value.views.map((view) => needRow(view, shardLabel(shard))),
    noteOf: ({ shard, value }) => incompleteness(shardLabel(shard), value),
  });

export async function fetchNeeds(
  api: ShardApi,
  call: CallOptions,
  query: ListQuery,
): Promise<Needs> {
  const { clusters, limit } = query;
  const [only = '', ...others] = clusters;
  let header = { cycle: 0n, totalNeeds: 0 };
  const views: NeedView[] = [];
  const request = {
    clusterId: others.length === 0 ? only : '',
    limit: others.length === 0 ? limit : 0,
  };
  for await (const { frame } of api.read.inspectNeeds(request, call)) {
    if (frame.case === 'header') header = frame.value;
    if (frame.case !== 'need') continue;
    if (others.length > 0 && !clusters.includes(frame.value.clusterId)) continue;
    views.push(frame.value);
  }
  const total = others.length === 0 ? header.totalNeeds : views.length;
  return { cycle: header.cycle, total, views };
}

/** Cycle 0 is "not computed yet", never "no demand". */
function incompleteness(shard: string, { cycle, total, views }: Needs): string | undefined {
  if (cycle === 0n) return `${shard}: no cycle has run yet, so nothing is known about its needs`;
  return views.length < total
    ? `${shard}: ${countText(views.length)} of ${countText(total)} needs, as --limit says`
    : undefined;
}
