// A command's flags as one table: name, form, default, help. Parsing, --help, documentation and the
// check of the chart read the same table, so that none of them can know a flag that the others
// don't.

import type { Result } from '@bigfleet/base';

export interface Flag<T> {
  /** The text that means the default; what --help shows. */
  readonly fallback: string;
  readonly help: string;
  /** How a value is written, for --help: `<duration>`. Absent for switches. */
  readonly form?: string;
  /** The values that can be written, where they are few: for completion. */
  readonly choices?: readonly string[];
  /** One letter: `-o json`, `-o=json`, `-ojson`. */
  readonly short?: string;
  readonly isRepeatable?: boolean;
  /** The error says what would have been right. */
  readonly parse: (text: string) => Result<T, string>;
}

export type FlagTable = Readonly<Record<string, Flag<unknown>>>;

export type FlagValue<F> = F extends Flag<infer T> ? T : never;

/** Repeatable flags give every value in order; the others one. */
export type FlagValues<Table extends FlagTable> = {
  readonly [Name in keyof Table]: Table[Name] extends { readonly isRepeatable: true }
    ? readonly FlagValue<Table[Name]>[]
    : FlagValue<Table[Name]>;
};
