// Brakes of all shards: needs first, then types. Rows of a cluster are needs, rows of a provider
// types.

import type { CallOptions, NeedBrake, TypeBrake } from '@bigfleet/wire';
import type { ShardApi } from '../connect/shards.ts';
import { brakeColumns, type BrakeRow, needBrakeRow, typeBrakeRow } from '../tables/brakes.ts';
import { listFromShards, shardLabel } from './from-shards.ts';
import { isOfCluster, type Listing, type ListQuery } from './listing.ts';

export interface Brakes {
  /** The rail is on. */
  readonly enabled: boolean;
  readonly needs: readonly NeedBrake[];
  readonly types: readonly TypeBrake[];
}

export const listBrakes: Listing<BrakeRow> = (ask) =>
  listFromShards(ask, {
    feature: 'list brakes',
    columns: brakeColumns,
    work: fetchBrakes,
    rowsOf: ({ shard, value }) =>
      [
        ...value.needs.map((brake) => needBrakeRow(brake, shardLabel(shard), ask.nowUnixNanos)),
        ...value.types.map((brake) => typeBrakeRow(brake, shardLabel(shard), ask.nowUnixNanos)),
      ].filter((row) => isAsked(ask.query, row)),
    noteOf: ({ shard, value }) =>
      value.enabled ? undefined : `${shardLabel(shard)}: runs with --configure-brake=false`,
  });

export async function fetchBrakes({ query }: ShardApi, call: CallOptions): Promise<Brakes> {
  let enabled = false;
  const needs: NeedBrake[] = [];
  const types: TypeBrake[] = [];
  for await (const batch of query.listBrakes({}, call)) {
    enabled = batch.enabled;
    needs.push(...batch.needs);
    types.push(...batch.types);
  }
  return { enabled, needs, types };
}

function isAsked(query: ListQuery, { kind, cluster, provider }: BrakeRow): boolean {
  if (query.clusters.length > 0 && (kind !== 'need' || !isOfCluster(query, cluster))) return false;
  return query.provider === '' || query.provider === provider;
}
