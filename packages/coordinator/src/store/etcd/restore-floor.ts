// `<data-dir>/restore.json`, left by an offline restore into etcd, whose database cannot be edited
// from outside (coordinator §10.3 step 5): the term that the first election must reach and the
// ledger generation that it must not stay below. Removed once an election has written both.

import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { count, int64, parseJson, record } from '../../state/json-codec.ts';

export interface RestoreFloor {
  readonly term: bigint;
  /** 0: unknown. The election raises the stored one in any case. */
  readonly ledgerGeneration: number;
}

const codec = record<RestoreFloor>({ term: int64, ledgerGeneration: count });

/** What the store is given as `restoreFile`. */
export function restoreFileOf(dataDir: string): string {
  return path.join(dataDir, 'restore.json');
}

/** Undefined when there was no restore. A file that cannot be read stops the start. */
export async function readRestoreFloor(file: string): Promise<RestoreFloor | undefined> {
  const context = { at: file, unknownKeys: 'ignore' } as const;
  try {
    return codec.decode(parseJson(await readFile(file, 'utf8'), context), context);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

export async function writeRestoreFloor(file: string, floor: RestoreFloor): Promise<void> {
  await writeFile(file, JSON.stringify(codec.encode(floor)), { mode: 0o600, flush: true });
}
