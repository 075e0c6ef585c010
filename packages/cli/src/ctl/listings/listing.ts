// A listing: from a query to a report. `list-*` and `get` share them, so both print the same.

import type { NodeSelectorRequirement } from '@bigfleet/wire';
import type { Links } from '../frame/links.ts';
import type { TableReport } from '../output/report.ts';
import { CTL_EXIT } from '../exit-code.ts';
import type { ShardAnswers } from '../connect/shards.ts';

export interface ListQuery {
  /** Shard ids; none is all. */
  readonly shards: readonly string[];
  /** Shard addresses, dialled without the coordinator. */
  readonly addresses: readonly string[];
  readonly clusters: readonly string[];
  readonly requirements: readonly Pick<NodeSelectorRequirement, 'key' | 'operator' | 'values'>[];
  /** Numbers of machine states. */
  readonly states: readonly number[];
  readonly provider: string;
  /** 0: no bound. */
  readonly limit: number;
}

export const EVERYTHING: ListQuery = {
  shards: [],
  addresses: [],
  clusters: [],
  requirements: [],
  states: [],
  provider: '',
  limit: 0,
};

export interface ListAsk {
  readonly links: Links;
  readonly query: ListQuery;
  readonly nowUnixNanos: bigint;
}

export type Listing<Row> = (ask: ListAsk) => Promise<TableReport<Row>>;

/** Whether a row of this shard was asked for. */
export function isOfShard({ shards }: ListQuery, shard: string): boolean {
  return shards.length === 0 || shards.includes(shard);
}

export function isOfCluster({ clusters }: ListQuery, cluster: string): boolean {
  return clusters.length === 0 || clusters.includes(cluster);
}

export function limited<Row>(rows: readonly Row[], { limit }: ListQuery): readonly Row[] {
  return limit === 0 ? rows : rows.slice(0, limit);
}

/** Partial when some answered; failed when none did. */
export function exitCodeOf({ answers, problems }: ShardAnswers<unknown>): number {
  if (problems.length === 0) return CTL_EXIT.ok;
  return answers.length === 0 ? CTL_EXIT.failed : CTL_EXIT.partial;
}
