// What shells need to know to complete a command line, from the table of verbs.

import type { FlagTable } from '@bigfleet/process/flags';
import { globalFlags } from '../frame/flags.ts';
import type { Verb } from '../frame/verb.ts';

export interface CompletionFlag {
  readonly name: string;
  readonly short: string | undefined;
  readonly help: string;
  readonly takesValue: boolean;
  /** Empty: anything, or a file. */
  readonly choices: readonly string[];
  readonly isFile: boolean;
}

export interface CompletionVerb {
  readonly name: string;
  readonly summary: string;
  /** Choices of each word behind the name. */
  readonly words: readonly (readonly string[])[];
  readonly flags: readonly CompletionFlag[];
}

export interface CompletionModel {
  readonly verbs: readonly CompletionVerb[];
  readonly globals: readonly CompletionFlag[];
}

export function completionModel(verbs: readonly Verb[]): CompletionModel {
  return {
    verbs: verbs.map(({ name, summary, words, flags }) => ({
      name,
      summary,
      words: words.map(({ choices }) => choices ?? []),
      flags: flagsOf(flags),
    })),
    globals: [...flagsOf(globalFlags), HELP],
  };
}

const HELP: CompletionFlag = {
  name: 'help',
  short: 'h',
  help: 'how to use it',
  takesValue: false,
  choices: [],
  isFile: false,
};

function flagsOf(table: FlagTable): CompletionFlag[] {
  return Object.entries(table).map(([name, flag]) => ({
    name,
    short: flag.short,
    help: flag.help,
    takesValue: flag.form !== undefined,
    choices: flag.choices ?? [],
    isFile: flag.form === '<file>' || flag.form === '<dir>',
  }));
}

/** First words, and what may follow those that need a second one. */
export function verbTree(verbs: readonly CompletionVerb[]): ReadonlyMap<string, readonly string[]> {
  const tree = new Map<string, string[]>();
  for (const { name } of verbs) {
    const [first = '', second] = name.split(' ');
    const below = tree.get(first) ?? [];
    tree.set(first, second === undefined ? below : [...below, second]);
  }
  return tree;
}
