// Why one record of a List could not be read. The others stand.

export type Problem =
  /** A length, tag or wire type is wrong. */
  | 'framing'
  /** A string is not UTF-8. */
  | 'text'
  /** Longer than any real record. */
  | 'too_large'
  /** An earlier record of the same List has the id. */
  | 'duplicate_id';

/** Codes of the `problem` column; 0 is a readable record. */
const PROBLEMS: readonly (Problem | undefined)[] = [
  undefined,
  'framing',
  'text',
  'too_large',
  'duplicate_id',
];

export function problemCode(problem: Problem): number {
  return PROBLEMS.indexOf(problem);
}

export function problemOf(code: number): Problem | undefined {
  return PROBLEMS[code];
}

export const problemTexts: Readonly<Record<Problem, string>> = {
  framing: 'the record is no valid Machine message',
  text: 'a string of the record is not UTF-8',
  too_large: 'the record is longer than any real one',
  duplicate_id: 'an earlier record of the same List has this id',
};
