// A row as the database file keeps it: its JSON, and on a line of its own a checksum of key and JSON.
// SQLite checks the structure of its pages, not what is in them: one flipped bit in a name would give
// a domain to another shard, and every check would pass. JSON of ours has no line break, so the line
// is never part of it. A row without one was written before there were any, and is taken as it is:
// losing the line leaves text that is no JSON.

import { crc32 } from 'node:zlib';
import type { RowKey } from '../../state/rows.ts';

const SEAL = /^\n[0-9a-f]{8}$/;
const SEAL_LENGTH = 9;
const HEX = 16;

export function sealed(key: RowKey, json: string): string {
  return `${json}\n${sumOf(key, json)}`;
}

/** Undefined: what is stored is not what was written. */
export function unsealed(key: RowKey, stored: string): string | undefined {
  if (!SEAL.test(stored.slice(-SEAL_LENGTH))) return stored;
  const json = stored.slice(0, -SEAL_LENGTH);
  return stored.endsWith(sumOf(key, json)) ? json : undefined;
}

/** The key first: a value that is whole under another key is another row. */
function sumOf(key: RowKey, json: string): string {
  return crc32(`\n${json}`, crc32(key))
    .toString(HEX)
    .padStart(SEAL_LENGTH - 1, '0');
}
