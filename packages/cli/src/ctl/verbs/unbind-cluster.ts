// `unbind-cluster`: drops the row of a cluster that is gone.

import { text } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { textReport } from '../output/report.ts';

export const unbindClusterVerb: Verb = defineVerb({
  name: 'unbind-cluster',
  group: 'Act on the fleet',
  summary: 'drop the binding of a cluster that is gone',
  details: [
    'Its demand ends with cluster forget, not with this; a cluster that connects binds again.',
  ],
  flags: { cluster: text('', 'the cluster', '<id>') },
  required: ['cluster'],
  examples: ['unbind-cluster --cluster=prod-eu'],
  does: {
    kind: 'report',
    isWatchable: false,
    report: async ({ links, values: { cluster } }) => {
      await links.coordinator.ask('unbind cluster', (api, call) =>
        api.admin.unbindCluster({ clusterId: cluster }, call),
      );
      return textReport([`unbound cluster ${cluster}`], { cluster });
    },
  },
});
