// `unassign-domain`: takes a topology domain from its shard.

import { text } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { textReport } from '../output/report.ts';

export const unassignDomainVerb: Verb = defineVerb({
  name: 'unassign-domain',
  group: 'Act on the fleet',
  summary: 'take a topology domain from its shard',
  details: [
    'The owner stops acquiring at once and keeps its bound machines until they come back by',
    'themselves; until then the domain is releasing.',
  ],
  flags: {
    key: text('', 'label key of the domain', '<key>'),
    value: text('', 'label value of the domain', '<value>'),
  },
  required: ['key', 'value'],
  examples: ['unassign-domain --key=topology.kubernetes.io/zone --value=eu-west-1a'],
  does: {
    kind: 'report',
    isWatchable: false,
    report: async ({ links, values: { key, value } }) => {
      await links.coordinator.ask('unassign domain', (api, call) =>
        api.coordinator.unassignDomain({ topologyKey: key, topologyValue: value }, call),
      );
      return textReport([`unassigned ${key}=${value}`], { key, value });
    },
  },
});
