// `describe <kind> <id>`: everything about one thing, and the last decision about it.

import { BigFleetError } from '@bigfleet/base';
import { shardLabel } from '../connect/shards.ts';
import {
  askExplanation,
  explainDocument,
  type Explained,
  explainLines,
} from '../explain/explanation.ts';
import { defineVerb } from '../frame/define-verb.ts';
import { shardFlags, shardFlagsProblem, shardSelection } from '../frame/flags.ts';
import { EVERYTHING, type Found, type ListAsk } from '../kinds/kind.ts';
import { kindOf, PLURALS, SINGULARS } from '../kinds/kinds.ts';
import { fieldLines, rowFields } from '../output/fields.ts';
import type { Style } from '../output/style.ts';
import type { TableForm } from '../output/table.ts';

export const describeVerb = defineVerb({
  name: 'describe',
  group: 'Understand',
  summary: 'everything about one machine, need, shard, cluster …',
  details: [
    `Kinds: ${SINGULARS.join(' ')}.`,
    'Names are what get shows: a need is <cluster>/<need>, a brake that or <provider>/<type>, a domain',
    '<key>=<value>, a quota <provider>/<region>, everything else its id. Machines and needs come',
    'with the last decision about them.',
  ],
  words: [{ name: 'kind', choices: [...SINGULARS, ...PLURALS] }, { name: 'id' }],
  flags: shardFlags,
  examples: [
    'describe machine i-0abc',
    'describe need prod-eu/1f3a9c02',
    'describe shard shard-0 -o yaml',
    'describe domain topology.kubernetes.io/zone=eu-west-1a',
  ],
  problem: shardFlagsProblem,
  isWatchable: true,
  report: async ({ links, values, words: [word = '', id = ''], context }) => {
    const query = { ...EVERYTHING, ...shardSelection(values) };
    const ask = { links, query, nowUnixNanos: context.runtime.clock.unixNanos() };
    const { found, problems } = await kindOf(word).find(ask, id);
    if (found.length === 0) {
      const unasked = problems.length === 0 ? '' : ` (${problems.join('; ')})`;
      throw new BigFleetError('thing_not_found', `there is no ${word} ${id}${unasked}`);
    }
    const described: Described[] = [];
    for (const each of found) {
      const { row, details } = each;
      described.push({ row, details, decision: await lastDecision(ask, each) });
    }
    return {
      lines: (form, style) => described.flatMap((each, at) => linesOf(each, at, form, style)),
      document: described.map(({ row, decision }) => ({
        ...row,
        lastDecision: decision === undefined ? undefined : explainDocument(decision),
      })),
      problems,
    };
  },
});

interface Described extends Pick<Found<object>, 'row' | 'details'> {
  /** The newest one, where records tell. */
  readonly decision: Explained | undefined;
}

/** Asked of the shard that holds the row, which `row.shard` names. */
async function lastDecision(
  { links, query }: ListAsk,
  { row, subject }: Found<object>,
): Promise<Explained | undefined> {
  if (subject === undefined) return undefined;
  const targets = await links.shards.find(query);
  const holding = targets.filter((shard) => 'shard' in row && shardLabel(shard) === row.shard);
  const ask = { subject, cycle: 0n, counterfactuals: false };
  return (await askExplanation(links, holding, ask)).newest;
}

function linesOf(
  { details: { row, table }, decision }: Described,
  at: number,
  form: TableForm,
  style: Style,
): readonly string[] {
  return [
    ...(at === 0 ? [] : ['']),
    ...fieldLines(rowFields(row), style),
    ...(table === undefined
      ? []
      : ['', style.paint(`${table.title}:`, 'strong'), ...table.lines(form, style)]),
    ...(decision === undefined
      ? []
      : ['', style.paint('Last decision:', 'strong'), ...explainLines(decision, form, style)]),
  ];
}
