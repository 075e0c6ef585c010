// `list-shards`: the registry of shards.

import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { tableReport } from '../output/report.ts';
import { registeredShard, registeredShardColumns } from '../tables/registered-shards.ts';

export const listShardsVerb: Verb = defineVerb({
  name: 'list-shards',
  group: 'Look',
  summary: 'the registered shards and when they were last heard of',
  details: ['What each shard says about itself: get shards.'],
  flags: {},
  examples: ['list-shards', 'list-shards -o json', 'list-shards --watch'],
  does: {
    kind: 'report',
    isWatchable: true,
    report: async ({ links }) => {
      const { shards } = await links.coordinator.ask('list shards', (api, call) =>
        api.coordinator.listShards({}, call),
      );
      return tableReport({ columns: registeredShardColumns, rows: shards.map(registeredShard) });
    },
  },
});
