// `get <kind>`: one table per kind, over all shards or some of them.

import { err, ok } from '@bigfleet/base';
import { stateName } from '@bigfleet/engine';
import { type Flag, text, texts, wholeNumber } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { type Kind, kindOf, KINDS, LISTINGS, SINGULARS } from '../listings/kinds.ts';
import { parseSelector, type SelectorRequirement } from '../listings/selector.ts';
import { nowOf } from './now.ts';
import { shardFlags, shardFlagsProblem } from './shard-flags.ts';

const STATES: readonly string[] = [1, 2, 3, 4, 5, 6, 7, 8].map(stateName);

const selector: Flag<readonly SelectorRequirement[]> = {
  fallback: '',
  help: 'machines: only those with these labels, as in kubectl',
  form: '<selector>',
  short: 'l',
  parse: parseSelector,
};

const state: Flag<number> & { readonly isRepeatable: true } = {
  fallback: '',
  help: 'machines: only those in this state',
  form: STATES.join('|'),
  choices: STATES,
  isRepeatable: true,
  parse: (given) => {
    const at = STATES.findIndex((name) => name.toLowerCase() === given.toLowerCase());
    return at < 0 ? err(`write one of ${STATES.join(', ')}`) : ok(at + 1);
  },
};

/** Rows that name a cluster. */
const WITH_CLUSTER: readonly Kind[] = [
  'machines',
  'needs',
  'shortfalls',
  'brakes',
  'sessions',
  'clusters',
];
const WITH_PROVIDER: readonly Kind[] = ['machines', 'brakes'];

export const getVerb: Verb = defineVerb({
  name: 'get',
  group: 'Look',
  summary: 'machines, needs, shortfalls, sessions, shards and more as tables',
  details: [
    `Kinds: ${KINDS.join(' ')}.`,
    'Shards are found through the coordinator and asked directly, several at once; one that does',
    'not answer is named on stderr, and the exit code is 3.',
  ],
  words: [{ name: 'kind', choices: [...KINDS, ...SINGULARS] }],
  flags: {
    ...shardFlags,
    cluster: texts('only rows of this cluster', '<id>'),
    selector,
    state,
    provider: text('', 'machines and brakes: only those of this provider', '<name>'),
    limit: wholeNumber(0, 'at most so many rows; 0 is all'),
  },
  examples: [
    'get machines --cluster=prod-eu',
    "get machines -l 'topology.kubernetes.io/zone in (a,b)' --state=Idle -o wide",
    'get shards --watch',
    'get shortfalls -o json',
  ],
  problem: (values, [word = '']) => {
    const kind = kindOf(word);
    const isOfMachines = values.selector.length > 0 || values.state.length > 0;
    if (isOfMachines && kind !== 'machines') return '--selector and --state choose machines only';
    if (values.provider !== '' && kind !== undefined && !WITH_PROVIDER.includes(kind)) {
      return '--provider chooses machines and brakes only';
    }
    if (values.cluster.length > 0 && kind !== undefined && !WITH_CLUSTER.includes(kind)) {
      return `${kind} belong to no cluster: leave --cluster out`;
    }
    return shardFlagsProblem(values);
  },
  does: {
    kind: 'report',
    isWatchable: true,
    report: ({ links, values, words, context }) => {
      const query = {
        shards: values.shard,
        addresses: values['shard-addr'],
        clusters: values.cluster,
        requirements: values.selector,
        states: values.state,
        provider: values.provider,
        limit: values.limit,
      };
      const listing = LISTINGS[kindOf(words[0] ?? '') ?? 'machines'];
      return listing({ links, query, nowUnixNanos: nowOf(context) });
    },
  },
});
