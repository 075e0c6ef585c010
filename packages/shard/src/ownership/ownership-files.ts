// The content of assignment.json (a StoredAssignment) and of transfers.json (a TransferBook): both are
// written whole and read strictly. A file that is not understood to the last key may hold a freeze or an
// owner that we would drop, so everything unexpected is damage and is named with its place. What is
// well-formed may still have lost something, so each file carries a checksum.

import { createHash } from 'node:crypto';
import { err, ok, type Result } from '@bigfleet/base';
import type { DomainRef, MachineOverride, StoredAssignment } from './assignment.ts';
import type { TransferBook, TransferRecord, TransferState } from './transfer-book.ts';

const VERSION = 1;
/** Bounds of what a file may hold: a damaged one must not fill the memory either. */
const MAX_FILE_ENTRIES = 1_000_000;
const MAX_TEXT = 4_096;

export function formatAssignment(assignment: StoredAssignment): string {
  const text = JSON.stringify({ version: VERSION, ...assignment }, (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}` : value,
  );
  return sealed(text);
}

/** The error says what is wrong with the file. */
export function parseAssignment(text: string): Result<StoredAssignment, string> {
  return unsealed(text, (body) => {
    const assignment = readAssignment(body, 'the file');
    const { adopted, released } = assignment;
    checkDistinct([...adopted, ...released].map(machineIdOf), 'a machine has two owners in it');
    return assignment;
  });
}

export function formatTransfers({ records, gone, lastOrder }: TransferBook): string {
  const stored = [...records.values()].map((record) => ({
    ...record,
    covered: [...record.covered],
  }));
  const text = { version: VERSION, lastOrder, records: stored, gone: [...gone.values()] };
  return sealed(JSON.stringify(text));
}

export function parseTransfers(text: string): Result<TransferBook, string> {
  return unsealed(text, (body) => {
    const { records, gone, lastOrder } = readTransfers(body, 'the file');
    const orders = records.map(({ order }) => order);
    checkDistinct(
      records.map(({ transferId }) => transferId),
      'a transfer is in it twice',
    );
    checkDistinct(orders, 'its steps are out of order');
    if (orders.some((order) => order > lastOrder))
      throw new FileProblem('its steps are out of order');
    checkDistinct(gone.map(machineIdOf), 'a machine is gone twice');
    return {
      records: new Map(records.map((record) => [record.transferId, record])),
      gone: new Map(gone.map((override) => [override.machineId, override])),
      lastOrder,
    };
  });
}

/** A file from the JSON text of an object: the same with its checksum as the last key. */
export function sealed(body: string): string {
  return `${body.slice(0, -1)},"sha256":"${checksumOf(body)}"}\n`;
}

function checksumOf(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

function unsealed<T>(text: string, read: (body: unknown) => T): Result<T, string> {
  try {
    const { sha256, ...body } = objectOf(parseJson(text), 'the file');
    const { version, ...rest } = body;
    if (version !== VERSION) throw new FileProblem('its version is unknown');
    if (sha256 !== checksumOf(JSON.stringify(body))) throw new FileProblem('its checksum is wrong');
    return ok(read(rest));
  } catch (error) {
    if (error instanceof FileProblem) return err(error.message);
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new FileProblem('it is not JSON');
  }
}

class FileProblem extends Error {
  override readonly name = 'FileProblem';
}

/** Throws a FileProblem; `where` names the value in it. */
type Reader<T> = (value: unknown, where: string) => T;

const fullText: Reader<string> = (value, where) => {
  const read = anyText(value, where);
  if (read === '') throw new FileProblem(`${where} is empty`);
  return read;
};

const anyText: Reader<string> = (value, where) => {
  if (typeof value === 'string' && value.length <= MAX_TEXT) return value;
  throw new FileProblem(`${where} is not a text`);
};

const flag: Reader<boolean> = (value, where) => {
  if (typeof value === 'boolean') return value;
  throw new FileProblem(`${where} is not true or false`);
};

const count: Reader<number> = (value, where) => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new FileProblem(`${where} is not a whole number`);
};

/** 64-bit numbers are stored as texts: JSON would round them. */
const big: Reader<bigint> = (value, where) => {
  if (typeof value === 'string' && /^\d{1,19}$/.test(value)) return BigInt(value);
  throw new FileProblem(`${where} is not a number written as a text`);
};

const state: Reader<TransferState> = (value) => {
  if (value === 'frozen' || value === 'released' || value === 'claimed') return value;
  throw new FileProblem('a transfer is in no known state');
};

const quantity: Reader<readonly [string, string]> = (value) => {
  if (!Array.isArray(value) || value.length !== 2) throw new FileProblem('covered is not pairs');
  return [fullText(value[0], 'name'), fullText(value[1], 'quantity')];
};

const ids: Reader<readonly string[]> = (value, where) => {
  const read = listOf(fullText)(value, where);
  checkDistinct(read, `${where} names something twice`);
  return read;
};

function listOf<T>(item: Reader<T>): Reader<readonly T[]> {
  return (value, where) => {
    if (!Array.isArray(value)) throw new FileProblem(`${where} is not a list`);
    if (value.length > MAX_FILE_ENTRIES) throw new FileProblem(`${where} is too long`);
    return value.map((each: unknown) => item(each, where));
  };
}

/** Exactly these keys. Without a name of its own, the record is called as its place is. */
function recordOf<T extends object>(
  readers: { readonly [K in keyof T]: Reader<T[K]> },
  name?: string,
): Reader<T> {
  const keys = Object.keys(readers) as (keyof T & string)[];
  return (value, where) => {
    const what = name ?? where;
    const fields = objectOf(value, what);
    const stray = Object.keys(fields).find((key) => !Object.hasOwn(readers, key));
    if (stray !== undefined) throw new FileProblem(`${what} has the unknown key ${stray}`);
    const missing = keys.find((key) => !Object.hasOwn(fields, key));
    if (missing !== undefined) throw new FileProblem(`${what} lacks ${missing}`);
    return Object.fromEntries(keys.map((key) => [key, readers[key](fields[key], key)])) as T;
  };
}

function objectOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new FileProblem(`${what} is not an object`);
}

function checkDistinct(values: readonly unknown[], problem: string): void {
  if (new Set(values).size !== values.length) throw new FileProblem(problem);
}

function machineIdOf({ machineId }: MachineOverride): string {
  return machineId;
}

const domain = recordOf<DomainRef>({ key: fullText, value: anyText, shardId: anyText }, 'a domain');
const override = recordOf<MachineOverride>(
  { machineId: fullText, transferId: anyText, peerShardId: anyText },
  'an override',
);

const readAssignment = recordOf<StoredAssignment>({
  revision: big,
  generation: big,
  domains: listOf(domain),
  foreignDomains: listOf(domain),
  quotas: listOf(recordOf({ provider: fullText, region: anyText, slice: count }, 'a quota')),
  adopted: listOf(override),
  released: listOf(override),
  ownsUnmatchedProviders: ids,
  providers: listOf(
    recordOf({ name: fullText, address: fullText, region: anyText, isShared: flag }, 'a provider'),
  ),
  releasing: listOf(recordOf({ key: fullText, value: anyText, isEmpty: flag }, 'a domain')),
  foldedOrder: count,
});

const transfer = recordOf<TransferRecord>(
  {
    transferId: fullText,
    state,
    peerShardId: anyText,
    machineIds: ids,
    covered: (value, where) => new Map(listOf(quantity)(value, where)),
    order: count,
  },
  'a transfer',
);
const readTransfers = recordOf({
  lastOrder: count,
  records: listOf(transfer),
  gone: listOf(override),
});
