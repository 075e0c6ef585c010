// `bind-cluster`: says which shard serves a cluster.

import { text, toggle } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { textReport } from '../output/report.ts';

export const bindClusterVerb: Verb = defineVerb({
  name: 'bind-cluster',
  group: 'Act on the fleet',
  summary: 'bind a cluster to a shard',
  details: [
    'A cluster binds by itself at first contact. To move one: change the shard address of its',
    'operator, restart the operator, then bind with --force.',
  ],
  flags: {
    cluster: text('', 'the cluster', '<id>'),
    shard: text('', 'the shard that serves it', '<id>'),
    force: toggle(false, 'also when it is bound to another shard'),
  },
  required: ['cluster', 'shard'],
  examples: ['bind-cluster --cluster=prod-eu --shard=shard-0'],
  does: {
    kind: 'report',
    isWatchable: false,
    report: async ({ links, values: { cluster, shard, force } }) => {
      await links.coordinator.ask('bind cluster', (api, call) =>
        api.admin.bindCluster({ clusterId: cluster, shardId: shard, force }, call),
      );
      return textReport([`bound cluster ${cluster} → ${shard}`], { cluster, shard });
    },
  },
});
