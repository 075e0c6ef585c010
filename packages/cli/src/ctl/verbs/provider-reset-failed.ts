// `provider reset-failed`: settles a Failed machine at its provider (decision 5).

import { BigFleetError } from '@bigfleet/base';
import { stateName } from '@bigfleet/engine';
import { nearestName, text } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Links } from '../frame/links.ts';
import type { Verb } from '../frame/verb.ts';
import { textReport } from '../output/report.ts';

export const providerResetFailedVerb: Verb = defineVerb({
  name: 'provider reset-failed',
  group: 'Act on the fleet',
  summary: 'clean up after a Failed machine, so that it can be used again',
  details: ['A provider that is not built with the kit has a tool of its own for this.'],
  flags: {
    provider: text('', 'name in the provider registry', '<name>'),
    'provider-addr': text('', 'dial this provider, without asking the coordinator', '<addr>'),
    machine: text('', 'the Failed machine', '<id>'),
  },
  required: ['machine'],
  examples: ['provider reset-failed --provider=lab --machine=host-17'],
  problem: (values) =>
    (values.provider === '') === (values['provider-addr'] === '')
      ? 'give --provider or --provider-addr'
      : undefined,
  does: {
    kind: 'report',
    isWatchable: false,
    report: async ({ links, values: { provider, machine, 'provider-addr': given } }) => {
      const address = given === '' ? await addressOf(links, provider) : given;
      const { machine: settled, cleaned } = await links.provider.ask(
        address,
        'reset failed machines',
        (api, call) => api.admin.resetFailed({ machineId: machine }, call),
      );
      const state = stateName(settled?.state ?? 0);
      return textReport([`reset machine ${machine}: ${state}`], { machine, state, cleaned });
    },
  },
});

async function addressOf(links: Links, name: string): Promise<string> {
  const { providers } = await links.coordinator.ask('list providers', (api, call) =>
    api.coordinator.listProviders({}, call),
  );
  const address = providers.find((entry) => entry.name === name)?.address;
  if (address !== undefined) return address;
  const names = providers.map((entry) => entry.name);
  const near = nearestName(names, name);
  const hint =
    near === undefined
      ? `registered are ${names.join(', ') || 'none'}; one that shards dial by a flag needs --provider-addr`
      : `did you mean ${near}?`;
  throw new BigFleetError('thing_not_found', `no provider ${name} is registered; ${hint}`);
}
