// `describe <kind> <id>`: everything about one thing, and the last decision about it.

import { BigFleetError } from '@bigfleet/base';
import { DESCRIBERS, type Found } from '../describe/describers.ts';
import { rowFields } from '../describe/row-fields.ts';
import { explainDocument, explainLines } from '../explain/explain-report.ts';
import { CTL_EXIT } from '../exit-code.ts';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { kindOf, KINDS, SINGULARS } from '../listings/kinds.ts';
import { EVERYTHING } from '../listings/listing.ts';
import { fieldLines } from '../output/fields.ts';
import type { Style } from '../output/style.ts';
import type { TableForm } from '../output/table.ts';
import { nowOf } from './now.ts';
import { shardFlags, shardFlagsProblem } from './shard-flags.ts';

export const describeVerb: Verb = defineVerb({
  name: 'describe',
  group: 'Understand',
  summary: 'everything about one machine, need, shard, cluster …',
  details: [
    `Kinds: ${SINGULARS.join(' ')}.`,
    'Names: a need is <cluster>/<need>, a brake that or <provider>/<instance type>, a domain',
    '<key>=<value>, a quota <provider>/<region>, everything else its id. Machines and needs come',
    'with the last decision about them.',
  ],
  words: [{ name: 'kind', choices: [...SINGULARS, ...KINDS] }, { name: 'id' }],
  flags: shardFlags,
  examples: [
    'describe machine i-0abc',
    'describe need prod-eu/1f3a9c02',
    'describe shard shard-0 -o yaml',
    'describe domain topology.kubernetes.io/zone=eu-west-1a',
  ],
  problem: shardFlagsProblem,
  does: {
    kind: 'report',
    isWatchable: true,
    report: async ({ links, values, words: [word = '', id = ''], context }) => {
      const kind = kindOf(word) ?? 'machines';
      const query = { ...EVERYTHING, shards: values.shard, addresses: values['shard-addr'] };
      const ask = { links, query, nowUnixNanos: nowOf(context) };
      const { found, problems } = await DESCRIBERS[kind](ask, id);
      if (found.length === 0) {
        const unasked = problems.length === 0 ? '' : ` (${problems.join('; ')})`;
        throw new BigFleetError('thing_not_found', `there is no ${word} ${id}${unasked}`);
      }
      return {
        lines: (form, style) => found.flatMap((each, at) => foundLines(each, at, form, style)),
        document: found.map(({ row, decision }) => ({
          ...row,
          ...(decision === undefined ? {} : { lastDecision: explainDocument(decision) }),
        })),
        problems,
        exitCode: problems.length === 0 ? CTL_EXIT.ok : CTL_EXIT.partial,
      };
    },
  },
});

function foundLines(
  { row, decision }: Found,
  at: number,
  form: TableForm,
  style: Style,
): readonly string[] {
  return [
    ...(at === 0 ? [] : ['']),
    ...fieldLines(rowFields(row), style),
    ...(decision === undefined
      ? []
      : ['', style.paint('Last decision:', 'strong'), ...explainLines(decision, form, style)]),
  ];
}
