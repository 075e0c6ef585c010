// `get <kind>`: one table per kind, over all shards or some of them.

import { err, ok } from '@bigfleet/base';
import { stateName } from '@bigfleet/engine';
import { type Flag, text, texts, wholeNumber } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import { EVERYTHING } from '../kinds/kind.ts';
import { kindOf, PLURALS, SINGULARS } from '../kinds/kinds.ts';
import { parseSelector, type SelectorRequirement } from '../kinds/selector.ts';
import { shardFlags, shardFlagsProblem, shardSelection } from '../frame/flags.ts';

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

export const getVerb = defineVerb({
  name: 'get',
  group: 'Look',
  summary: 'machines, needs, shortfalls, sessions, shards and more as tables',
  details: [
    `Kinds: ${PLURALS.join(' ')}.`,
    'Shards are found through the coordinator and asked directly, several at once; one that does',
    'not answer is named on stderr, and the exit code is 3.',
  ],
  words: [{ name: 'kind', choices: [...PLURALS, ...SINGULARS] }],
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
    const { plural, filters } = kindOf(word);
    const isOfMachines = values.selector.length > 0 || values.state.length > 0;
    if (isOfMachines && !filters.includes('machine')) {
      return '--selector and --state choose machines only';
    }
    if (values.provider !== '' && !filters.includes('provider')) {
      return '--provider chooses machines and brakes only';
    }
    if (values.cluster.length > 0 && !filters.includes('cluster')) {
      return `${plural} belong to no cluster: leave --cluster out`;
    }
    return shardFlagsProblem(values);
  },
  isWatchable: true,
  report: ({ links, values, words: [word = ''], context }) => {
    const query = {
      ...EVERYTHING,
      ...shardSelection(values),
      clusters: values.cluster,
      requirements: values.selector,
      states: values.state,
      provider: values.provider,
      limit: values.limit,
    };
    return kindOf(word).list({ links, query, nowUnixNanos: context.runtime.clock.unixNanos() });
  },
});
