// Sessions of all shards.

import type { SessionView } from '@bigfleet/wire';
import { type SessionRow, sessionColumns, sessionRow } from '../tables/sessions.ts';
import { listFromShards, shardLabel } from './from-shards.ts';
import { isOfCluster, type Listing } from './listing.ts';

export const listSessions: Listing<SessionRow> = (ask) =>
  listFromShards(ask, {
    feature: 'list sessions',
    columns: sessionColumns,
    work: async (api, call) => {
      const views: SessionView[] = [];
      for await (const view of api.query.listSessions({}, call)) views.push(view);
      return views;
    },
    rowsOf: ({ shard, value }) =>
      value
        .filter(({ clusterId }) => isOfCluster(ask.query, clusterId))
        .map((view) => sessionRow(view, shardLabel(shard), ask.nowUnixNanos)),
  });
