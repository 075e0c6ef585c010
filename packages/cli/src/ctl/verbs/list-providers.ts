// `list-providers`: the provider registry.

import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { listProviders } from '../listings/providers.ts';
import { EVERYTHING } from '../listings/listing.ts';
import { nowOf } from './now.ts';

export const listProvidersVerb: Verb = defineVerb({
  name: 'list-providers',
  group: 'Look',
  summary: 'the provider registry',
  flags: {},
  examples: ['list-providers', 'list-providers -o yaml'],
  does: {
    kind: 'report',
    isWatchable: true,
    report: ({ links, context }) =>
      listProviders({ links, query: EVERYTHING, nowUnixNanos: nowOf(context) }),
  },
});
