// Machines of all shards. Batches become rows as they arrive: a message is several times a row.

import { countText } from '../output/texts.ts';
import { type MachineRow, machineColumns, machineRow } from '../tables/machines.ts';
import type { ShardApi } from '../connect/shards.ts';
import type { CallOptions, MachineView } from '@bigfleet/wire';
import { listFromShards, shardLabel } from './from-shards.ts';
import type { Listing, ListQuery } from './listing.ts';

interface Machines {
  readonly views: readonly MachineView[];
  /** Matches before the limit. */
  readonly total: number;
}

export const listMachines: Listing<MachineRow> = (ask) =>
  listFromShards<Machines, MachineRow>(ask, {
    feature: 'list machines',
    columns: machineColumns,
    work: (api, call) => fetchMachines(api, call, ask.query),
    rowsOf: ({ shard, value }) =>
      value.views.map((view) => machineRow(view, shardLabel(shard), ask.nowUnixNanos)),
    noteOf: ({ shard, value: { views, total } }) =>
      views.length < total
        ? `${shardLabel(shard)}: ${countText(views.length)} of ${countText(total)} machines, as --limit says`
        : undefined,
  });

export async function fetchMachines(
  api: ShardApi,
  call: CallOptions,
  query: ListQuery,
  machineIds: readonly string[] = [],
): Promise<Machines> {
  const { clusters, provider, limit, states } = query;
  const views: MachineView[] = [];
  let total = 0;
  const requirements = query.requirements.map(({ key, operator, values }) => ({
    key,
    operator,
    values: [...values],
  }));
  const request = {
    machineIds: [...machineIds],
    states: states as MachineView['state'][],
    clusterIds: [...clusters],
    provider,
    requirements,
    limit,
  };
  for await (const batch of api.query.listMachines(request, call)) {
    total = batch.total;
    views.push(...batch.machines);
  }
  return { views, total };
}
