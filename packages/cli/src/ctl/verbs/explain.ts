// `explain machine|need`: why it was treated as it was, from the records of its shard.

import { ok } from '@bigfleet/base';
import { bigNumber, toggle } from '@bigfleet/process/flags';
import {
  askExplanation,
  type ExplainAsk,
  type Explanations,
  nothingRecorded,
} from '../explain/ask-explanation.ts';
import { explainDocument, explainLines } from '../explain/explain-report.ts';
import { CTL_EXIT } from '../exit-code.ts';
import { defineVerb } from '../frame/define-verb.ts';
import type { Links } from '../frame/links.ts';
import type { Verb } from '../frame/verb.ts';
import type { ShardTarget } from '../connect/shards.ts';
import { holdersOfMachine, holdersOfNeed } from '../listings/holders.ts';
import { type NeedName, parseNeedName } from '../listings/need-name.ts';
import { shardFlags, shardFlagsProblem } from './shard-flags.ts';

export const explainVerb: Verb = defineVerb({
  name: 'explain',
  group: 'Understand',
  summary: 'why a machine or a need was treated as it was',
  details: [
    'A machine is named by its id, a need by <cluster>/<need> as get needs -o wide shows it, or',
    'by <cluster>/<fingerprint>[/<group>]. The newest record that mentions it answers, also with',
    'what held its actions back: a rail, a full queue, a pause, an action under way.',
  ],
  words: [{ name: 'machine|need', choices: ['machine', 'need'] }, { name: 'name' }],
  flags: {
    ...shardFlags,
    cycle: bigNumber(0n, 'in which cycle; 0 is the newest that mentions it'),
    counterfactuals: toggle(false, 'need: also try what would cover it, and say what it costs'),
  },
  examples: [
    'explain machine i-0abc',
    'explain need prod-eu/1f3a9c02 --counterfactuals',
    'explain machine i-0abc --cycle=1204 -o json',
  ],
  problem: (values, [kind, name = '']) => {
    const parsed = kind === 'need' ? parseNeedName(name) : ok(undefined);
    return parsed.ok ? shardFlagsProblem(values) : parsed.error;
  },
  does: {
    kind: 'report',
    isWatchable: true,
    report: async ({ links, values, words: [kind, name = ''] }) => {
      const { shard: ids, 'shard-addr': addresses, cycle, counterfactuals } = values;
      const shards = await links.shards.find({ ids, addresses });
      const more = { cycle, counterfactuals };
      const need = kind === 'need' ? parseNeedName(name) : undefined;
      const { newest, problems } =
        need?.ok === true
          ? await explainNeed(links, shards, need.value, more)
          : await explainMachine(links, shards, name, more);
      if (newest === undefined) throw nothingRecorded(`${kind} ${name}`, problems);
      return {
        lines: (form, style) => explainLines(newest, form, style),
        document: explainDocument(newest),
        problems,
        exitCode: problems.length === 0 ? CTL_EXIT.ok : CTL_EXIT.partial,
      };
    },
  },
});

type More = Pick<ExplainAsk, 'cycle' | 'counterfactuals'>;

async function explainMachine(
  links: Links,
  shards: readonly ShardTarget[],
  id: string,
  more: More,
): Promise<Explanations> {
  const holders = await holdersOfMachine(links, shards, id);
  const subject = { case: 'machineId', value: id } as const;
  const answer = await askExplanation(links, holders.shards, { subject, ...more });
  return { ...answer, problems: together(holders.problems, answer.problems) };
}

async function explainNeed(
  links: Links,
  shards: readonly ShardTarget[],
  name: NeedName,
  more: More,
): Promise<Explanations> {
  const { ref, ...holders } = await holdersOfNeed(links, shards, name);
  const subject = { case: 'need', value: ref } as const;
  const answer = await askExplanation(links, holders.shards, { subject, ...more });
  return { ...answer, problems: together(holders.problems, answer.problems) };
}

/** A shard that is down fails both questions; once is enough. */
function together(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])];
}
