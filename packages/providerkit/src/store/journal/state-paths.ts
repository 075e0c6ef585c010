// Where a store keeps its files, from the one path of `--state`. A directory (it exists as one, or
// the path ends with a slash) holds `state.json` inside. Everything lies in one directory, because
// a rename is atomic only there.
//
//   state.json             the snapshot, one JSON document (provider-contract §13)
//   state.json.journal.7   changes since the snapshot of generation 7
//   state.json.lock        the lock; empty, stays behind
//   .store-state.json.tmp  a snapshot being written

import { basename, dirname, join, resolve } from 'node:path';
import type { FileKind } from './files.ts';

export interface StatePaths {
  readonly directory: string;
  readonly snapshot: string;
  readonly temporary: string;
  readonly lock: string;
  journal(generation: number): string;
  /** The generation that a file name of the directory carries; undefined for other files. */
  generationOf(name: string): number | undefined;
}

const NAME_IN_DIRECTORY = 'state.json';
const GENERATION = /^[1-9][0-9]{0,15}$/;

export function statePaths(path: string, kind: FileKind): StatePaths {
  const isDirectory = kind === 'directory' || path.endsWith('/');
  const snapshot = resolve(isDirectory ? join(path, NAME_IN_DIRECTORY) : path);
  const directory = dirname(snapshot);
  const name = basename(snapshot);
  const prefix = `${name}.journal.`;
  return {
    directory,
    snapshot,
    temporary: join(directory, `.store-${name}.tmp`),
    lock: `${snapshot}.lock`,
    journal: (generation) => join(directory, `${prefix}${generation}`),
    generationOf: (candidate) => {
      const digits = candidate.startsWith(prefix) ? candidate.slice(prefix.length) : '';
      return GENERATION.test(digits) ? Number(digits) : undefined;
    },
  };
}
