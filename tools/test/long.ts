// How `make test-long` shares its time: the files run in an order that rotates with the date
// and the commit, so that each landing proves different ones first, and each gets an equal
// share of what is left of the box. Time that a file does not use goes to those after it.
//
// How the whole lane is bounded: no share reaches beyond the box, so that every file has ended at the
// end of the box plus what its last round takes, and a hung one is dead at the box plus HUNG_MS.

import { createHash } from 'node:crypto';

/** The same files, starting at a place that depends on the key only. */
export function rotate(files: readonly string[], key: string): string[] {
  if (files.length === 0) return [];
  const offset = createHash('sha256').update(key).digest().readUInt32BE(0) % files.length;
  return [...files.slice(offset), ...files.slice(0, offset)];
}

/**
 * The least that is worth beginning a file for: one that starts real processes has come to its first
 * round by then. Where the box has less for each, the files in front get this, and the last none.
 */
export const MIN_SHARE_MS = 20_000;

/** A hang guard, not a bar: far beyond the fixed minimum of any file, however busy the machine. */
export const HUNG_MS = 900_000;

export interface Share {
  readonly leftMs: number;
  readonly filesLeft: number;
  readonly processes: number;
}

/** What the next file gets; 0 when the rest of the box is too small to begin a file. */
export function shareMs({ leftMs, filesLeft, processes }: Share): number {
  if (leftMs < MIN_SHARE_MS || filesLeft <= 0) return 0;
  const fairMs = (leftMs * Math.min(processes, filesLeft)) / filesLeft;
  return Math.floor(Math.max(fairMs, MIN_SHARE_MS));
}

/** BIGFLEET_LONG_MS is soft: a file sets up and finishes its current round. Past this it has hung. */
export function killAfterMs(shareMilliseconds: number): number {
  return shareMilliseconds + HUNG_MS;
}
