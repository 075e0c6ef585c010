// `deregister-provider`: removes a registry entry; its shards retire the provider.

import { text, toggle } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { textReport } from '../output/report.ts';

export const deregisterProviderVerb: Verb = defineVerb({
  name: 'deregister-provider',
  group: 'Act on the fleet',
  summary: 'remove a provider from the registry',
  details: [
    'Refused while a shard has machines of it: nobody could drain them any more. Drain them first;',
    '--force removes the entry all the same.',
  ],
  flags: {
    name: text('', 'its name in the registry', '<name>'),
    force: toggle(false, 'also while machines of it are in use'),
  },
  required: ['name'],
  examples: ['deregister-provider --name=lab'],
  does: {
    kind: 'report',
    isWatchable: false,
    report: async ({ links, values: { name, force } }) => {
      await links.coordinator.ask('deregister provider', (api, call) =>
        api.admin.deregisterProvider({ name, force }, call),
      );
      return textReport([`deregistered provider ${name}`], { name });
    },
  },
});
