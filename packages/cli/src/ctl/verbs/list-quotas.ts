// `list-quotas`: how many elastic machines each shard may hold.

import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { listQuotas } from '../listings/quotas.ts';
import { EVERYTHING } from '../listings/listing.ts';
import { nowOf } from './now.ts';

export const listQuotasVerb: Verb = defineVerb({
  name: 'list-quotas',
  group: 'Look',
  summary: 'how many elastic machines each shard may hold',
  flags: {},
  examples: ['list-quotas', 'list-quotas --watch'],
  does: {
    kind: 'report',
    isWatchable: true,
    report: ({ links, context }) =>
      listQuotas({ links, query: EVERYTHING, nowUnixNanos: nowOf(context) }),
  },
});
