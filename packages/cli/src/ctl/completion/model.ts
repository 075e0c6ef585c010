// What shells need to know to complete a command line, from the table of verbs.

import { type FlagTable, toggle } from '@bigfleet/process/flags';
import { globalFlags } from '../frame/flags.ts';
import type { Verb } from '../frame/verb.ts';

const help = { ...toggle(false, 'how to use it'), short: 'h' };

export function completionModel(verbs: readonly Verb[]) {
  return {
    verbs: verbs.map(({ name, summary, words, flags }) => ({
      name,
      summary,
      /** Choices of each word behind the name. */
      words: words.map(({ choices }) => choices ?? []),
      flags: flagsOf(flags),
    })),
    globals: flagsOf({ ...globalFlags, help }),
  };
}

export type CompletionModel = ReturnType<typeof completionModel>;

function flagsOf(table: FlagTable) {
  return Object.entries(table).map(([name, flag]) => ({
    name,
    short: flag.short,
    help: flag.help,
    takesValue: flag.form !== undefined,
    /** Empty: anything, or a file. */
    choices: flag.choices ?? [],
    isFile: flag.form === '<file>' || flag.form === '<dir>',
  }));
}

export type CompletionFlag = CompletionModel['globals'][number];

/** First words, and what may follow those that need a second one. */
export function verbTree({ verbs }: CompletionModel): ReadonlyMap<string, readonly string[]> {
  const tree = new Map<string, string[]>();
  for (const { name } of verbs) {
    const [first = '', second] = name.split(' ');
    const below = tree.get(first) ?? [];
    tree.set(first, second === undefined ? below : [...below, second]);
  }
  return tree;
}

/** One word of bash and of zsh. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
