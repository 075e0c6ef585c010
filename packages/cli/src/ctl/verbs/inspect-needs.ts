// `inspect-needs`: every need of one shard with the verdict of its last cycle.

import { text, wholeNumber } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { EVERYTHING } from '../listings/listing.ts';
import { listNeeds } from '../listings/needs.ts';
import { nowOf } from './now.ts';
import { shardFlags, shardFlagsProblem } from './shard-flags.ts';

export const inspectNeedsVerb: Verb = defineVerb({
  name: 'inspect-needs',
  group: 'Understand',
  summary: 'needs with their verdict: covered, short, and why',
  details: ['Rows come by priority, then by arrival. AGE counts cycles without cover.'],
  flags: {
    ...shardFlags,
    cluster: text('', 'only needs of this cluster', '<id>'),
    limit: wholeNumber(0, 'at most so many rows; 0 is all'),
  },
  examples: [
    'inspect-needs --shard=shard-0',
    'inspect-needs --shard-addr=shard-0.shards:7780 --cluster=prod-eu -o wide',
  ],
  problem: shardFlagsProblem,
  does: {
    kind: 'report',
    isWatchable: true,
    report: ({ links, values, context }) => {
      const { shard, cluster, limit } = values;
      const clusters = cluster === '' ? [] : [cluster];
      const addresses = values['shard-addr'];
      const query = { ...EVERYTHING, shards: shard, addresses, clusters, limit };
      return listNeeds({ links, query, nowUnixNanos: nowOf(context) });
    },
  },
});
