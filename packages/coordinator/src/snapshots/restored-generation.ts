// `<data-dir>/restored-generation`: of all restores into this directory the highest ledger generation.
// A snapshot that is restored twice, or an older one after it, would begin the same generation again;
// a shard that acts on revision 12 of the first attempt would be taken for one that has heard revision
// 12 of the second. The file stays for ever. A directory that never had a restore has none.

import { readFileSync, writeFileSync } from 'node:fs';
import { BigFleetError } from '@bigfleet/base';
import type { DataDir } from '@bigfleet/process';
import { syncPath } from '../store/sqlite/create-database.ts';

const FILE = 'restored-generation';

/** The generation that the next restore begins; durable when it returns, also when that fails. */
export function beginGeneration(dataDir: DataDir, ofSnapshot: number): number {
  const generation = Math.max(ofSnapshot, lastGeneration(dataDir)) + 1;
  writeFileSync(dataDir.at(FILE), `${generation}\n`, { mode: 0o600, flush: true });
  syncPath(dataDir.directory);
  return generation;
}

function lastGeneration(dataDir: DataDir): number {
  let text: string;
  try {
    text = readFileSync(dataDir.at(FILE), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0;
    throw error;
  }
  if (/^\d{1,15}\n$/.test(text)) return Number(text);
  const problem = `${dataDir.at(FILE)} holds no generation: write a number above every one restored`;
  throw new BigFleetError('coordinator_data_dir_unusable', problem);
}
