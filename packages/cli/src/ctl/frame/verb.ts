// A verb as a value: name, words, flags, examples, and what it does. Help, completion, the reference
// page and the front door read the same table, so none of them can know a verb that the others
// don't.

import type { FlagTable, FlagValues } from '@bigfleet/process/flags';
import type { CtlContext } from '../context.ts';
import type { Report } from '../output/report.ts';
import type { GlobalFlags } from './global-flags.ts';
import type { Links } from './links.ts';

export const VERB_GROUPS = [
  'Look',
  'Understand',
  'Act on shards',
  'Act on the fleet',
  'Snapshots',
  'This client',
] as const;

export type VerbGroup = (typeof VERB_GROUPS)[number];

export interface Word {
  /** As in the usage line: `kind`. */
  readonly name: string;
  readonly choices?: readonly string[];
  readonly isOptional?: boolean;
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

export interface VerbSpec<Table extends FlagTable> {
  /** One word or two: `cluster forget`. */
  readonly name: string;
  readonly group: VerbGroup;
  readonly summary: string;
  /** Further lines of the help. */
  readonly details?: readonly string[];
  readonly words?: readonly Word[];
  readonly flags: Table;
  /** Flags that must be given and not empty. */
  readonly required?: readonly (keyof Table & string)[];
  /** Without the leading `bigfleetctl`. */
  readonly examples: readonly [string, ...string[]];
  /** What is wrong with flags and words together; undefined when nothing is. */
  readonly problem?: (
    values: ValuesOf<Table>,
    words: readonly string[],
    given: ReadonlySet<string>,
  ) => string | undefined;
  readonly does: VerbDeed<ValuesOf<Table>>;
}

export type VerbDeed<Values> =
  /** Answers once; with --watch again and again. */
  | {
      readonly kind: 'report';
      readonly isWatchable: boolean;
      /** Watches by itself on a terminal, unless --watch=false. */
      readonly isLive?: boolean;
      /** Works on the client alone: a broken context must not keep it from being repaired. */
      readonly needsNoFleet?: boolean;
      readonly report: (invocation: Invocation<Values>) => Promise<Report>;
    }
  /** Prints by itself, and may run until Ctrl-C. Returns the exit code. */
  | {
      readonly kind: 'run';
      readonly needsNoFleet?: boolean;
      readonly run: (invocation: Invocation<Values>) => Promise<number>;
    };

/** A verb without the types of its flags, as tables hold it. */
export interface Verb {
  readonly name: string;
  readonly group: VerbGroup;
  readonly summary: string;
  readonly details: readonly string[];
  readonly words: readonly Word[];
  readonly flags: FlagTable;
  readonly required: readonly string[];
  readonly examples: readonly string[];
  readonly isWatchable: boolean;
  /** Arguments behind the name; returns the exit code. */
  readonly execute: (argv: readonly string[], context: CtlContext) => Promise<number>;
}
