// `bin/bigfleetctl` as a process of its own, run to its end: what it prints and how it exits. Never
// imported: an operator's shell sees nothing else.

import { execFile } from 'node:child_process';
import path from 'node:path';
import { HANG_MS } from '../toolkit/index.ts';

const COMMAND = path.join(import.meta.dirname, '../../bin/bigfleetctl');

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export function bigfleetctl(...argv: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    execFile(COMMAND, argv, { timeout: HANG_MS }, (error, out, err) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === 'number') resolve({ code, out, err });
      else reject(new Error(`bigfleetctl ${argv.join(' ')}: no exit code\n${out}${err}`));
    });
  });
}
