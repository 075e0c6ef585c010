// Verbs that print one kind each under a name of its own; `get` prints the same tables.

import { type FlagTable, text, texts, toggle, wholeNumber } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import { shardFlags, shardFlagsProblem, shardSelection } from '../frame/flags.ts';
import type { ValuesOf, Verb, VerbFace } from '../frame/verb.ts';
import { clusters } from '../kinds/clusters.ts';
import { domains } from '../kinds/domains.ts';
import { EVERYTHING, type Kind, type ListQuery } from '../kinds/kind.ts';
import { needs } from '../kinds/needs.ts';
import { providers } from '../kinds/providers.ts';
import { quotas } from '../kinds/quotas.ts';
import { registeredShards, shardReports } from '../kinds/shard-registry.ts';
import { transfers } from '../kinds/transfers.ts';

type ListSpec<Table extends FlagTable> = Omit<VerbFace, 'group'> & {
  readonly kind: Kind;
  readonly details?: readonly string[];
  readonly group?: VerbFace['group'];
  readonly flags?: Table;
  readonly problem?: (values: ValuesOf<Table>) => string | undefined;
  readonly query?: (values: ValuesOf<Table>) => Partial<ListQuery>;
};

function listVerb<Table extends FlagTable>(spec: ListSpec<Table>): Verb {
  const { kind, query, group = 'Look', flags = {} as Table, ...rest } = spec;
  return defineVerb({
    ...rest,
    group,
    flags,
    isWatchable: true,
    report: ({ links, values, context }) =>
      kind.list({
        links,
        query: { ...EVERYTHING, ...query?.(values) },
        nowUnixNanos: context.runtime.clock.unixNanos(),
      }),
  });
}

export const LIST_VERBS: readonly Verb[] = [
  listVerb({
    kind: registeredShards,
    name: 'list-shards',
    summary: 'the registered shards and when they were last heard of',
    details: ['What each shard says about itself: get shards.'],
    examples: ['list-shards', 'list-shards -o json', 'list-shards --watch'],
  }),
  listVerb({
    kind: shardReports,
    name: 'list-shard-reports',
    summary: 'what each shard reported to the coordinator last',
    details: ['After a failover the list is empty until the shards report again.'],
    examples: ['list-shard-reports', 'list-shard-reports --shard=shard-0 -o wide'],
    flags: { shard: text('', 'only the report of this shard', '<id>') },
    query: ({ shard }) => ({ shards: [shard] }),
  }),
  listVerb({
    kind: clusters,
    name: 'list-clusters',
    summary: 'which shard serves which cluster',
    examples: ['list-clusters', 'list-clusters --shard=shard-0'],
    flags: { shard: texts('only clusters of this shard', '<id>') },
    query: ({ shard }) => ({ shards: shard }),
  }),
  listVerb({
    kind: domains,
    name: 'list-domain-assignments',
    summary: 'which shard owns which topology domain',
    examples: ['list-domain-assignments', 'list-domain-assignments -o json'],
  }),
  listVerb({
    kind: providers,
    name: 'list-providers',
    summary: 'the provider registry',
    examples: ['list-providers', 'list-providers -o yaml'],
  }),
  listVerb({
    kind: quotas,
    name: 'list-quotas',
    summary: 'how many elastic machines each shard may hold',
    examples: ['list-quotas', 'list-quotas --watch'],
  }),
  listVerb({
    kind: transfers,
    name: 'list-transfers',
    summary: 'machines on their way from one shard to another',
    examples: ['list-transfers', 'list-transfers --all --shard=shard-1 -o wide'],
    flags: {
      shard: texts('only transfers from or to this shard', '<id>'),
      all: toggle(false, 'also those that are done or aborted'),
    },
    query: ({ shard, all }) => ({ shards: shard, includeClosed: all }),
  }),
];

export const inspectNeedsVerb = listVerb({
  kind: needs,
  name: 'inspect-needs',
  group: 'Understand',
  summary: 'needs with their verdict: covered, short, and why',
  details: ['Rows come by priority, then by arrival. AGE counts cycles without cover.'],
  examples: [
    'inspect-needs --shard=shard-0',
    'inspect-needs --shard-addr=shard-0.shards:7780 --cluster=prod-eu -o wide',
  ],
  flags: {
    ...shardFlags,
    cluster: text('', 'only needs of this cluster', '<id>'),
    limit: wholeNumber(0, 'at most so many rows; 0 is all'),
  },
  problem: shardFlagsProblem,
  query: ({ cluster, limit, ...values }) => ({
    ...shardSelection(values),
    clusters: cluster === '' ? [] : [cluster],
    limit,
  }),
});
