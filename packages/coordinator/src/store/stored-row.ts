// A key and its value as an engine lists them, with the table that the key names.

import { BigFleetError } from '@bigfleet/base';
import { parseRowKey } from '../state/keys.ts';
import type { StoredRow } from '../state/writes.ts';

/** A row under a key that is not ours was put there by hand: `coordinator_row_malformed`. */
export function storedRow({ key, value }: Pick<StoredRow, 'key' | 'value'>): StoredRow {
  const table = parseRowKey(key)?.table;
  if (table === undefined)
    throw new BigFleetError('coordinator_row_malformed', `${key}: is no key of a fleet state`);
  return { table, key, value };
}
