// The content of transfers.json: a TransferBook, written whole and read strictly.

import { err, ok, type Result } from '@bigfleet/base';
import { overrideOf } from './assignment-json.ts';
import {
  countOf,
  type Fields,
  fieldsOf,
  FileProblem,
  idsOf,
  listOf,
  parseFields,
  sealed,
  textOf,
} from './json-fields.ts';
import type { TransferBook, TransferRecord, TransferState } from './transfer-book.ts';

const VERSION = 1;
const STATES: readonly TransferState[] = ['frozen', 'released', 'claimed'];
const RECORD_KEYS: readonly (keyof TransferRecord)[] = [
  'transferId',
  'state',
  'peerShardId',
  'machineIds',
  'covered',
  'order',
];

export function formatTransfers({ records, gone, lastOrder }: TransferBook): string {
  const stored = [...records.values()].map((record) => ({
    ...record,
    covered: [...record.covered],
  }));
  const text = { version: VERSION, lastOrder, records: stored, gone: [...gone.values()] };
  return sealed(JSON.stringify(text));
}

/** The error says what is wrong with the file. */
export function parseTransfers(text: string): Result<TransferBook, string> {
  try {
    return ok(read(parseFields(text, VERSION, ['lastOrder', 'records', 'gone'])));
  } catch (error) {
    if (error instanceof FileProblem) return err(error.message);
    throw error;
  }
}

function read(fields: Fields): TransferBook {
  const lastOrder = countOf(fields, 'lastOrder');
  const records = listOf(fields, 'records', recordOf);
  const gone = listOf(fields, 'gone', overrideOf);
  if (new Set(records.map(({ transferId }) => transferId)).size !== records.length) {
    throw new FileProblem('a transfer is in it twice');
  }
  const orders = new Set(records.map(({ order }) => order));
  if (orders.size !== records.length || [...orders].some((order) => order > lastOrder)) {
    throw new FileProblem('its steps are out of order');
  }
  if (new Set(gone.map(({ machineId }) => machineId)).size !== gone.length) {
    throw new FileProblem('a machine is gone twice');
  }
  return {
    records: new Map(records.map((record) => [record.transferId, record])),
    gone: new Map(gone.map((override) => [override.machineId, override])),
    lastOrder,
  };
}

function recordOf(item: unknown): TransferRecord {
  const fields = fieldsOf(item, 'a transfer', RECORD_KEYS);
  const state = STATES.find((each) => each === fields['state']);
  if (state === undefined) throw new FileProblem('a transfer is in no known state');
  return {
    transferId: textOf(fields, 'transferId'),
    state,
    peerShardId: textOf(fields, 'peerShardId', true),
    machineIds: idsOf(fields, 'machineIds'),
    covered: new Map(listOf(fields, 'covered', quantityOf)),
    order: countOf(fields, 'order'),
  };
}

function quantityOf(item: unknown): readonly [string, string] {
  if (!Array.isArray(item) || item.length !== 2) throw new FileProblem('covered is not pairs');
  const [name, quantity] = item as readonly unknown[];
  return [textOf({ name }, 'name'), textOf({ quantity }, 'quantity')];
}
