// `explain machine|need`: why it was treated as it was, from the records of its shard.

import { bigNumber, toggle } from '@bigfleet/process/flags';
import type { Links } from '../connect/links.ts';
import type { ShardTarget } from '../connect/shards.ts';
import {
  askExplanation,
  explainDocument,
  explainLines,
  nothingRecorded,
} from '../explain/explanation.ts';
import { type Holders, holdersOfMachine, holdersOfNeed } from '../explain/holders.ts';
import { defineVerb } from '../frame/define-verb.ts';
import { shardFlags, shardFlagsProblem, shardSelection } from '../frame/flags.ts';
import type { Subject } from '../kinds/kind.ts';
import { parseNeedName } from '../kinds/need-name.ts';

export const explainVerb = defineVerb({
  name: 'explain',
  group: 'Understand',
  summary: 'why a machine or a need was treated as it was',
  details: [
    'A machine is named by its id, a need by <cluster>/<need> as get needs shows it, or by',
    '<cluster>/<fingerprint>[/<group>]. The newest record that mentions it answers, also with what',
    'held its actions back: a rail, a full queue, a pause, an action under way.',
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
    const parsed = kind === 'need' ? parseNeedName(name) : undefined;
    return parsed?.ok === false ? parsed.error : shardFlagsProblem(values);
  },
  isWatchable: true,
  report: async ({ links, values, words: [kind = '', name = ''] }) => {
    const { cycle, counterfactuals } = values;
    const shards = await links.shards.find(shardSelection(values));
    const { subject, ...holders } = await subjectOf(links, shards, kind, name);
    const answer = await askExplanation(links, holders.shards, { subject, cycle, counterfactuals });
    // A shard that is down fails both questions; once is enough.
    const problems = [...new Set([...holders.problems, ...answer.problems])];
    const { newest } = answer;
    if (newest === undefined) throw nothingRecorded(`${kind} ${name}`, problems);
    return {
      lines: (form, style) => explainLines(newest, form, style),
      document: explainDocument(newest),
      problems,
    };
  },
});

async function subjectOf(
  links: Links,
  shards: readonly ShardTarget[],
  kind: string,
  name: string,
): Promise<Holders & { readonly subject: Subject }> {
  const need = kind === 'need' ? parseNeedName(name) : undefined;
  if (need?.ok !== true) {
    const holders = await holdersOfMachine(links, shards, name);
    return { ...holders, subject: { case: 'machineId', value: name } };
  }
  const { ref, ...holders } = await holdersOfNeed(links, shards, need.value);
  return { ...holders, subject: { case: 'need', value: ref } };
}
