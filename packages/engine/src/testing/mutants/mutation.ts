// One deliberate fault in the engine, as a replacement of source text. The text must occur
// exactly once, so that a change of the engine which moves or rewrites it fails the quick test
// and the table is brought up to date instead of silently checking nothing.

export interface Mutation {
  readonly id: string;
  /** Relative to packages/engine/src. */
  readonly file: string;
  /** What goes wrong, in one phrase. */
  readonly breaks: string;
  /** Exact source text. */
  readonly find: string;
  readonly replace: string;
}

/** Areas that may be mutated; the oracle and what tests share are what mutants are judged by. */
export const MUTATED_AREAS: readonly string[] = [
  'model',
  'store',
  'match',
  'needs',
  'phase1',
  'phase2',
  'phase3',
  'actions',
  'bytes',
  'cycle',
  'record',
];

export function areaOf({ file }: Mutation): string {
  return file.slice(0, file.indexOf('/'));
}

export function countOf(source: string, text: string): number {
  return source.split(text).length - 1;
}

/** The mutated source, or undefined when the text does not occur exactly once. */
export function mutate(source: string, { find, replace }: Mutation): string | undefined {
  const at = source.indexOf(find);
  if (at < 0 || countOf(source, find) !== 1) return undefined;
  return source.slice(0, at) + replace + source.slice(at + find.length);
}
