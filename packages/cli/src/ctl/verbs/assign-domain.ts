// `assign-domain`: gives a topology domain to a shard.

import { text } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { textReport } from '../output/report.ts';

export const assignDomainVerb: Verb = defineVerb({
  name: 'assign-domain',
  group: 'Act on the fleet',
  summary: 'give a topology domain to a shard',
  details: [
    'A domain that another shard is still releasing is refused: unassign it, wait until',
    'list-domain-assignments no longer shows it, then assign it.',
  ],
  flags: {
    key: text('', 'label key of the domain', '<key>'),
    value: text('', 'label value of the domain', '<value>'),
    shard: text('', 'the new owner', '<id>'),
  },
  required: ['key', 'value', 'shard'],
  examples: ['assign-domain --key=topology.kubernetes.io/zone --value=eu-west-1a --shard=shard-0'],
  does: {
    kind: 'report',
    isWatchable: false,
    report: async ({ links, values }) => {
      const { key, value, shard } = values;
      await links.coordinator.ask('assign domain', (api, call) =>
        api.coordinator.assignDomain(
          { topologyKey: key, topologyValue: value, shardId: shard },
          call,
        ),
      );
      return textReport([`assigned ${key}=${value} → ${shard}`], { key, value, shard });
    },
  },
});
