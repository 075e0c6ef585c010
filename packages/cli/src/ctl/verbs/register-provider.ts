// `register-provider`: adds or replaces a registry entry; shards dial it from their next report on.

import { text, texts, toggle, wholeNumber } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { textReport } from '../output/report.ts';

export const registerProviderVerb: Verb = defineVerb({
  name: 'register-provider',
  group: 'Act on the fleet',
  summary: 'register a provider; its shards dial it from then on',
  details: ['Registering a known name again replaces its entry.'],
  flags: {
    name: text('', 'its name, also in quotas and metrics', '<name>'),
    address: text('', 'where shards dial it: host:port or unix:/path', '<addr>'),
    region: text('', 'the one region that the entry covers', '<region>'),
    shard: texts('only for this shard; none is all', '<id>'),
    'declared-quota': wholeNumber(0, 'bound of the sum of its quota slices; 0 declares none'),
    probe: toggle(false, 'ask the provider for one machine first, from here'),
  },
  required: ['name', 'address', 'region'],
  examples: [
    'register-provider --name=aws-eu-west-1 --address=provider-aws:9000 --region=eu-west-1',
    'register-provider --name=lab --address=10.0.0.7:9000 --region=lab --shard=shard-1 --probe',
  ],
  does: {
    kind: 'report',
    isWatchable: false,
    report: async ({ links, values }) => {
      const { name, address, region, shard, probe, 'declared-quota': declaredQuota } = values;
      if (probe) {
        await links.provider.ask(address, 'list machines', (api, call) =>
          api.provider.list({ maxResults: 1 }, call),
        );
      }
      const provider = { name, address, region, declaredQuota, shards: [...shard] };
      await links.coordinator.ask('register provider', (api, call) =>
        api.admin.registerProvider({ provider }, call),
      );
      return textReport([`registered provider ${name} (${address}, ${region})`], provider);
    },
  },
});
