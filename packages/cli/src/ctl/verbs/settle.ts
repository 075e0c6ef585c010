// `settle`: decides what two shards claim at once after a restore (coordinator §10.5). The coordinator
// takes it as an assignment of a thing that has no key, by the name under which `status` and `doctor`
// show it.

import { text } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { textReport } from '../output/report.ts';

export const settleVerb: Verb = defineVerb({
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
  does: {
    kind: 'report',
    isWatchable: false,
    report: async ({ links, values: { machine, home, shard } }) => {
      const subject = machine === '' ? `home ${home}` : `machine ${machine}`;
      await links.coordinator.ask('settle', (api, call) =>
        api.coordinator.assignDomain({ disputedSubject: subject, shardId: shard }, call),
      );
      return textReport([`settled ${subject} → ${shard}`], { subject, shard });
    },
  },
});
