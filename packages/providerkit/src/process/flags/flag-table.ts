// Flags as data: name, kind, default, one sentence. Parsing, the environment, `--help` and (later)
// charts and documentation read the same table, so none of them can drift from the others.

/** `help` is one or more sentences for `--help`, without the default. */
export type FlagSpec =
  | {
      readonly kind: 'text';
      readonly default: string;
      readonly help: string;
      readonly placeholder?: string;
    }
  | { readonly kind: 'switch'; readonly default: boolean; readonly help: string }
  /** Milliseconds. */
  | { readonly kind: 'duration'; readonly default: number; readonly help: string }
  | {
      readonly kind: 'count';
      readonly default: number;
      readonly help: string;
      readonly max: number;
    }
  | {
      readonly kind: 'choice';
      readonly default: string;
      readonly help: string;
      readonly values: readonly string[];
    };

/** By name, in kebab-case, without the dashes. */
export type FlagTable = Readonly<Record<string, FlagSpec>>;

/** Durations are milliseconds. */
export type FlagValues<Table extends FlagTable> = {
  readonly [Name in keyof Table]: FlagValue<Table[Name]>;
};

export type FlagValue<Spec extends FlagSpec> = Spec extends { readonly kind: 'switch' }
  ? boolean
  : Spec extends { readonly kind: 'duration' | 'count' }
    ? number
    : Spec extends { readonly kind: 'choice'; readonly values: readonly (infer Name)[] }
      ? Name
      : string;

/** The environment variable that sets a flag. */
export function variableOf(name: string): string {
  return `BIGFLEET_${name.toUpperCase().replaceAll('-', '_')}`;
}
