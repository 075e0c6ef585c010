// The columns of a List, one row per record in the order of the bytes: 46 bytes each. Strings are
// numbers of the string table, 0 being the empty one; ids and host references, which no two
// machines share, are ranges of the input.

export interface Rows {
  /** A code of PROBLEMS, below; 0 is a readable record. */
  problem: Uint8Array<ArrayBuffer>;
  /** As on the wire; 255 stands for every value that has no name. */
  state: Uint8Array<ArrayBuffer>;
  /** Where the record's field begins in the input: tag, length, record. */
  fieldStart: Uint32Array<ArrayBuffer>;
  idStart: Uint32Array<ArrayBuffer>;
  idLength: Uint32Array<ArrayBuffer>;
  idHash: Uint32Array<ArrayBuffer>;
  profile: Uint32Array<ArrayBuffer>;
  cluster: Uint32Array<ArrayBuffer>;
  hostProvider: Uint32Array<ArrayBuffer>;
  hostRefStart: Uint32Array<ArrayBuffer>;
  hostRefLength: Uint32Array<ArrayBuffer>;
  lastError: Uint32Array<ArrayBuffer>;
  /** Interned set of `shard_metadata`. */
  metadata: Uint32Array<ArrayBuffer>;
}

export function allocateRows(capacity: number): Rows {
  return {
    problem: new Uint8Array(capacity),
    state: new Uint8Array(capacity),
    fieldStart: new Uint32Array(capacity),
    idStart: new Uint32Array(capacity),
    idLength: new Uint32Array(capacity),
    idHash: new Uint32Array(capacity),
    profile: new Uint32Array(capacity),
    cluster: new Uint32Array(capacity),
    hostProvider: new Uint32Array(capacity),
    hostRefStart: new Uint32Array(capacity),
    hostRefLength: new Uint32Array(capacity),
    lastError: new Uint32Array(capacity),
    metadata: new Uint32Array(capacity),
  };
}

/** In place: the decoder holds the object and goes on filling it. */
export function growRows(rows: Rows, capacity: number): void {
  const bigger = allocateRows(capacity);
  for (const column of Object.keys(rows) as (keyof Rows)[]) bigger[column].set(rows[column]);
  Object.assign(rows, bigger);
}

// Why one record of a List could not be read. The others stand.

export type Problem = 'framing' | 'text' | 'too_large' | 'duplicate_id';

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
