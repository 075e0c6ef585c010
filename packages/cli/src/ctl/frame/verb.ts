// A verb as a value: name, words, flags, examples, and what it does. Help, completion, the reference
// page and the front door read the same table, so none of them can know a verb that the others
// don't.

import { type FlagTable, type FlagValues, flagLines } from '@bigfleet/process/flags';
import type { Links } from '../connect/links.ts';
import type { CtlContext } from '../context.ts';
import type { Report } from '../output/report.ts';
import { type GlobalFlags, globalFlags } from './flags.ts';

export const VERB_GROUPS = [
  'Look',
  'Understand',
  'Act on shards',
  'Act on the fleet',
  'Snapshots',
  'This client',
] as const;

export interface Word {
  /** As in the usage line: `kind`. */
  readonly name: string;
  readonly choices?: readonly string[] | undefined;
}

export interface Invocation<Values> {
  readonly values: Values;
  /** Which flags the command line named. */
  readonly given: ReadonlySet<string>;
  readonly words: readonly string[];
  readonly context: CtlContext;
  readonly links: Links;
  /** Aborts with Ctrl-C, for verbs that run until then. */
  readonly signal: AbortSignal;
}

export type ValuesOf<Table extends FlagTable> = FlagValues<GlobalFlags> & FlagValues<Table>;

/** What help, completion and the reference page show of a verb, beside its flags. */
export interface VerbFace {
  /** One word or two: `cluster forget`. */
  readonly name: string;
  readonly group: (typeof VERB_GROUPS)[number];
  readonly summary: string;
  /** Without the leading `bigfleetctl`. */
  readonly examples: readonly [string, ...string[]];
}

export type VerbSpec<Table extends FlagTable> = VerbFace &
  VerbDeed<ValuesOf<Table>> & {
    /** Further lines of the help. */
    readonly details?: readonly string[] | undefined;
    readonly words?: readonly Word[] | undefined;
    readonly flags: Table;
    /** Flags that must be given and not empty. */
    readonly required?: readonly (keyof Table & string)[] | undefined;
    /** What is wrong with flags and words together; undefined when nothing is. */
    readonly problem?: VerbProblem<ValuesOf<Table>> | undefined;
    /** Works on the client alone: a broken context must not keep it from being repaired. */
    readonly needsNoFleet?: boolean | undefined;
  };

type VerbProblem<Values> = (
  values: Values,
  words: readonly string[],
  given: ReadonlySet<string>,
) => string | undefined;

type VerbDeed<Values> =
  | {
      readonly report: (invocation: Invocation<Values>) => Promise<Report>;
      /** Answers again and again with --watch. */
      readonly isWatchable?: boolean | undefined;
      /** Watches by itself on a terminal, unless --watch=false. */
      readonly isLive?: boolean | undefined;
      readonly run?: undefined;
    }
  | {
      /** Prints by itself, and may run until Ctrl-C. Returns the exit code. */
      readonly run: (invocation: Invocation<Values>) => Promise<number>;
      readonly isWatchable?: undefined;
      readonly isLive?: undefined;
    };

/** A verb without the types of its flags, as tables hold it. */
export interface Verb extends VerbFace {
  readonly details: readonly string[];
  readonly words: readonly Word[];
  readonly flags: FlagTable;
  readonly required: readonly string[];
  /** Arguments behind the name; returns the exit code. */
  readonly execute: (argv: readonly string[], context: CtlContext) => Promise<number>;
}

export function usageLine({ name, words, required }: Verb): string {
  const parts = [
    ...words.map((word) => `<${word.name}>`),
    ...required.map((flag) => `--${flag}=…`),
    '[flags]',
  ];
  return `bigfleetctl ${name} ${parts.join(' ')}`;
}

/** What a verb does, as its help and its reference page say it. */
export function descriptionLines({ summary, details }: Verb): readonly string[] {
  return [`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, ...details];
}

export function verbHelp(verb: Verb): string {
  const own = flagLines(verb.flags);
  const sections = [
    [`Usage: ${usageLine(verb)}`],
    descriptionLines(verb),
    ['Examples:', ...verb.examples.map((example) => `  bigfleetctl ${example}`)],
    ...(own.length === 0 ? [] : [['Flags:', ...own]]),
    ['Global flags:', ...flagLines(globalFlags)],
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
