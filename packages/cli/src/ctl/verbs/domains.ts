// Verbs that say which shard owns what: topology domains, and what two shards claim after a restore.

import { text } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import { textReport } from '../output/report.ts';

export const assignDomainVerb = defineVerb({
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
});

export const unassignDomainVerb = defineVerb({
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
  report: async ({ links, values: { key, value } }) => {
    await links.coordinator.ask('unassign domain', (api, call) =>
      api.coordinator.unassignDomain({ topologyKey: key, topologyValue: value }, call),
    );
    return textReport([`unassigned ${key}=${value}`], { key, value });
  },
});

/**
 * Decides what two shards claim at once after a restore (coordinator §10.5). The coordinator takes
 * it as an assignment of a thing that has no key, by the name under which `status` and `doctor`
 * show it.
 */
export const settleVerb = defineVerb({
  name: 'settle',
  group: 'Act on the fleet',
  summary: 'decide what two shards claim at once after a restore',
  details: [
    'While a restored coordinator recovers, doctor names what is in dispute. The shard that is named',
    'here keeps it, one of the two; the other loses it with its next assignment, with whatever runs',
    'there, so look first which of them uses it. A disputed domain is decided by assign-domain, a',
    'registry entry by register-provider.',
  ],
  flags: {
    machine: text('', 'a machine in dispute', '<id>'),
    home: text('', 'a provider whose machines outside of all domains are in dispute', '<addr>'),
    shard: text('', 'who keeps it', '<id>'),
  },
  required: ['shard'],
  examples: [
    'settle --machine=i-0abc --shard=shard-0',
    'settle --home=10.0.0.7:9000 --shard=shard-1',
  ],
  problem: ({ machine, home }) =>
    (machine === '') === (home === '') ? 'give one of --machine and --home' : undefined,
  report: async ({ links, values: { machine, home, shard } }) => {
    const subject = machine === '' ? `home ${home}` : `machine ${machine}`;
    await links.coordinator.ask('settle', (api, call) =>
      api.coordinator.assignDomain({ disputedSubject: subject, shardId: shard }, call),
    );
    return textReport([`settled ${subject} → ${shard}`], { subject, shard });
  },
});
