// `list-transfers`: machines on their way from one shard to another.

import { texts, toggle } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { listTransfers } from '../listings/transfers.ts';
import { EVERYTHING } from '../listings/listing.ts';
import { nowOf } from './now.ts';

export const listTransfersVerb: Verb = defineVerb({
  name: 'list-transfers',
  group: 'Look',
  summary: 'machines on their way from one shard to another',
  flags: {
    shard: texts('only transfers from or to this shard', '<id>'),
    all: toggle(false, 'also those that are done or aborted'),
  },
  examples: ['list-transfers', 'list-transfers --all --shard=shard-1 -o wide'],
  does: {
    kind: 'report',
    isWatchable: true,
    report: ({ links, context, values }) =>
      listTransfers(values.all)({
        links,
        query: { ...EVERYTHING, shards: values.shard },
        nowUnixNanos: nowOf(context),
      }),
  },
});
