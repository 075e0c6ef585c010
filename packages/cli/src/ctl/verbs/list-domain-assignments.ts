// `list-domain-assignments`: which shard owns which topology domain.

import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { listDomains } from '../listings/domains.ts';
import { EVERYTHING } from '../listings/listing.ts';
import { nowOf } from './now.ts';

export const listDomainAssignmentsVerb: Verb = defineVerb({
  name: 'list-domain-assignments',
  group: 'Look',
  summary: 'which shard owns which topology domain',
  flags: {},
  examples: ['list-domain-assignments', 'list-domain-assignments -o json'],
  does: {
    kind: 'report',
    isWatchable: true,
    report: ({ links, context }) =>
      listDomains({ links, query: EVERYTHING, nowUnixNanos: nowOf(context) }),
  },
});
