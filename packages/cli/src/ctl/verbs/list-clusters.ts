// `list-clusters`: which shard serves which cluster.

import { texts } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { listClusters } from '../listings/clusters.ts';
import { EVERYTHING } from '../listings/listing.ts';
import { nowOf } from './now.ts';

export const listClustersVerb: Verb = defineVerb({
  name: 'list-clusters',
  group: 'Look',
  summary: 'which shard serves which cluster',
  flags: { shard: texts('only clusters of this shard', '<id>') },
  examples: ['list-clusters', 'list-clusters --shard=shard-0'],
  does: {
    kind: 'report',
    isWatchable: true,
    report: ({ links, context, values }) =>
      listClusters({
        links,
        query: { ...EVERYTHING, shards: values.shard },
        nowUnixNanos: nowOf(context),
      }),
  },
});
