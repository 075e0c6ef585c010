// SQLite's result codes, as far as they decide something.

const FULL = 13;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;
const BUSY = 5;
/** Extended codes carry the primary one in their low byte. */
const PRIMARY_MASK = 0xff;

export type SqliteProblem = 'full' | 'corrupt' | 'busy' | 'other';

export function sqliteProblem(error: unknown): SqliteProblem {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0;
  switch (code & PRIMARY_MASK) {
    case FULL:
      return 'full';
    case CORRUPT:
    case NOT_A_DATABASE:
      return 'corrupt';
    case BUSY:
      return 'busy';
    default:
      return 'other';
  }
}
