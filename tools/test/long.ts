// How `make test-long` shares its time: the files run in an order that rotates with the date
// and the commit, so that each landing proves different ones first, and each gets an equal
// share of what is left of the box. Time that a file does not use goes to those after it.

import { createHash } from 'node:crypto';

/** The same files, starting at a place that depends on the key only. */
export function rotate(files: readonly string[], key: string): string[] {
  if (files.length === 0) return [];
  const offset = createHash('sha256').update(key).digest().readUInt32BE(0) % files.length;
  return [...files.slice(offset), ...files.slice(0, offset)];
}

export interface Share {
  readonly leftMs: number;
  readonly filesLeft: number;
  readonly processes: number;
}

/** What the next file gets; 0 when the box is used up. */
export function shareMs({ leftMs, filesLeft, processes }: Share): number {
  if (leftMs <= 0 || filesLeft <= 0) return 0;
  return Math.floor(Math.min(leftMs, (leftMs * Math.min(processes, filesLeft)) / filesLeft));
}

/** BIGFLEET_LONG_MS is soft: a file finishes its current round. Past this it is stuck. */
export function killAfterMs(shareMilliseconds: number): number {
  return shareMilliseconds * 2 + 120_000;
}
