// Writes to a standard stream, all of it, before it returns: the process may end right after, and
// an asynchronous write to a pipe would be lost. A slow reader (`| less`, `| jq`) is waited for, also
// on a descriptor that another process made non-blocking: there the system says EAGAIN instead of
// waiting itself. Whether the reader is gone is the caller's to judge.

import { writeSync } from 'node:fs';

const RETRY_MS = 5;
const waitingRoom = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

export type Written = 'all' | 'reader-gone';

export function writeFully(descriptor: number, text: string): Written {
  let rest = Buffer.from(text, 'utf8');
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EPIPE') return 'reader-gone';
      if (code !== 'EAGAIN') throw error;
      // Bound: the life of the reader. When it ends, the next try says EPIPE.
      Atomics.wait(waitingRoom, 0, 0, RETRY_MS);
    }
  }
  return 'all';
}
