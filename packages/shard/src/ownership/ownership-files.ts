// The content of assignment.json (a StoredAssignment) and of transfers.json (a TransferBook): both are
// written whole and read strictly, because a key that is not understood may be a freeze or an owner.

import { err, ok, type Result } from '@bigfleet/base';
import type {
  DomainRef,
  MachineOverride,
  QuotaSlice,
  RegistryTarget,
  ReleasingDomain,
  StoredAssignment,
} from './assignment.ts';
import {
  bigOf,
  countOf,
  type Fields,
  fieldsOf,
  FileProblem,
  flagOf,
  idsOf,
  listOf,
  parseFields,
  sealed,
  textOf,
} from './durable-json.ts';
import type { TransferBook, TransferRecord, TransferState } from './transfer-book.ts';

const VERSION = 1;
const ASSIGNMENT_KEYS: readonly (keyof StoredAssignment)[] = [
  'revision',
  'generation',
  'domains',
  'foreignDomains',
  'quotas',
  'adopted',
  'released',
  'ownsUnmatchedProviders',
  'providers',
  'releasing',
  'foldedOrder',
];

export function formatAssignment(assignment: StoredAssignment): string {
  const text = JSON.stringify({ version: VERSION, ...assignment }, (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}` : value,
  );
  return sealed(text);
}

/** The error says what is wrong with the file. */
export function parseAssignment(text: string): Result<StoredAssignment, string> {
  return parsed(() => readAssignment(parseFields(text, VERSION, ASSIGNMENT_KEYS)));
}

function parsed<T>(read: () => T): Result<T, string> {
  try {
    return ok(read());
  } catch (error) {
    if (error instanceof FileProblem) return err(error.message);
    throw error;
  }
}

function readAssignment(fields: Fields): StoredAssignment {
  const adopted = listOf(fields, 'adopted', overrideOf);
  const released = listOf(fields, 'released', overrideOf);
  checkOneOwner([...adopted, ...released]);
  return {
    revision: bigOf(fields, 'revision'),
    generation: bigOf(fields, 'generation'),
    domains: listOf(fields, 'domains', domainOf),
    foreignDomains: listOf(fields, 'foreignDomains', domainOf),
    quotas: listOf(fields, 'quotas', quotaOf),
    adopted,
    released,
    ownsUnmatchedProviders: idsOf(fields, 'ownsUnmatchedProviders'),
    providers: listOf(fields, 'providers', targetOf),
    releasing: listOf(fields, 'releasing', releasingOf),
    foldedOrder: countOf(fields, 'foldedOrder'),
  };
}

function checkOneOwner(overrides: readonly MachineOverride[]): void {
  const ids = overrides.map(({ machineId }) => machineId);
  if (new Set(ids).size !== ids.length) throw new FileProblem('a machine has two owners in it');
}

function domainOf(item: unknown): DomainRef {
  const fields = fieldsOf(item, 'a domain', ['key', 'value', 'shardId']);
  return {
    key: textOf(fields, 'key'),
    value: textOf(fields, 'value', true),
    shardId: textOf(fields, 'shardId', true),
  };
}

function quotaOf(item: unknown): QuotaSlice {
  const fields = fieldsOf(item, 'a quota', ['provider', 'region', 'slice']);
  return {
    provider: textOf(fields, 'provider'),
    region: textOf(fields, 'region', true),
    slice: countOf(fields, 'slice'),
  };
}

function targetOf(item: unknown): RegistryTarget {
  const fields = fieldsOf(item, 'a provider', ['name', 'address', 'region', 'isShared']);
  return {
    name: textOf(fields, 'name'),
    address: textOf(fields, 'address'),
    region: textOf(fields, 'region', true),
    isShared: flagOf(fields, 'isShared'),
  };
}

function releasingOf(item: unknown): ReleasingDomain {
  const fields = fieldsOf(item, 'a domain', ['key', 'value', 'isEmpty']);
  return {
    key: textOf(fields, 'key'),
    value: textOf(fields, 'value', true),
    isEmpty: flagOf(fields, 'isEmpty'),
  };
}

function overrideOf(item: unknown): MachineOverride {
  const fields = fieldsOf(item, 'an override', ['machineId', 'transferId', 'peerShardId']);
  return {
    machineId: textOf(fields, 'machineId'),
    transferId: textOf(fields, 'transferId', true),
    peerShardId: textOf(fields, 'peerShardId', true),
  };
}

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

export function parseTransfers(text: string): Result<TransferBook, string> {
  return parsed(() => readTransfers(parseFields(text, VERSION, ['lastOrder', 'records', 'gone'])));
}

function readTransfers(fields: Fields): TransferBook {
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
