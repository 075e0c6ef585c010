// Verbs about the provider registry, and about a machine that failed at its provider.

import { BigFleetError } from '@bigfleet/base';
import { stateName } from '@bigfleet/engine';
import { text, texts, toggle, wholeNumber } from '@bigfleet/process/flags';
import type { Links } from '../connect/links.ts';
import { defineVerb } from '../frame/define-verb.ts';
import { textReport } from '../output/report.ts';
import { nameHint } from '../output/text.ts';

export const registerProviderVerb = defineVerb({
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
});

export const deregisterProviderVerb = defineVerb({
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
  report: async ({ links, values: { name, force } }) => {
    await links.coordinator.ask('deregister provider', (api, call) =>
      api.admin.deregisterProvider({ name, force }, call),
    );
    return textReport([`deregistered provider ${name}`], { name });
  },
});

export const providerResetFailedVerb = defineVerb({
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
});

async function addressOf(links: Links, name: string): Promise<string> {
  const { providers } = await links.coordinator.ask('list providers', (api, call) =>
    api.coordinator.listProviders({}, call),
  );
  const address = providers.find((entry) => entry.name === name)?.address;
  if (address !== undefined) return address;
  const names = providers.map((entry) => entry.name);
  const hint = nameHint(
    names,
    name,
    `registered are ${names.join(', ') || 'none'}; one that shards dial by a flag needs --provider-addr`,
  );
  throw new BigFleetError('thing_not_found', `no provider ${name} is registered; ${hint}`);
}
