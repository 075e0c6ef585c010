// The JSON shape of everything stored, one function each way. Names instead of enum numbers, int64
// as decimal strings, maps as objects with own keys only (`Object.fromEntries` and `JSON.parse`
// both keep `__proto__` as plain data). Reading refuses what it does not understand: a record that
// was guessed at is worse than a provider that does not start.

import { assert } from '@bigfleet/base';
import {
  capacityTypes,
  type HostRef,
  type MachineRecord,
  machineStates,
  operationKinds,
} from '../../model/machine.ts';
import type { FenceMark, StoredOperation } from '../store.ts';

/** Says what is wrong with a stored value; the reader adds which file. */
export class FormError extends Error {
  override readonly name = 'FormError';
}

type JsonObject = Readonly<Record<string, unknown>>;

/** `instanceType` → `instance_type`. */
type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${Snake<Rest>}`
    : `_${Lowercase<First>}${Snake<Rest>}`
  : '';
/** Every field under its stored name: a field that is added and not stored does not compile. */
type FormOf<T> = { readonly [Name in keyof T & string as Snake<Name>]-?: unknown };
/** Likewise for what may be absent: one that is stored and not read does not compile. */
type OptionalOf<T> = {
  [Name in keyof T as object extends Pick<T, Name> ? Name : never]-?: T[Name] | undefined;
};

export function formOfMachine(record: MachineRecord): FormOf<MachineRecord> {
  // JSON has no NaN: it would be written as null, and the next start would refuse the file.
  const areFinite =
    Number.isFinite(record.pricePerHour) && Number.isFinite(record.interruptionProbability);
  assert(areFinite, 'a stored machine has finite numbers', { id: record.id });
  return {
    id: record.id,
    state: record.state,
    host: record.host && { provider: record.host.provider, ref: record.host.ref },
    instance_type: record.instanceType,
    zone: record.zone,
    capacity_type: record.capacityType,
    price_per_hour: record.pricePerHour,
    interruption_probability: record.interruptionProbability,
    observed_probability: record.observedProbability,
    resources: Object.fromEntries(record.resources),
    allocatable: record.allocatable && Object.fromEntries(record.allocatable),
    labels: Object.fromEntries(record.labels),
    last_error: record.lastError,
    cluster: record.cluster,
    shard_metadata: Object.fromEntries(record.shardMetadata),
    modified_revision: record.modifiedRevision,
  };
}

/** `modifiedRevision` is 0 where an older file has none; the caller renumbers those. */
export function machineOf(value: unknown): MachineRecord {
  const form = objectOf(value, 'machine');
  const maybe: OptionalOf<MachineRecord> = {
    host: optional(form, 'host', hostOf),
    observedProbability: optional(form, 'observed_probability', finite),
    allocatable: optional(form, 'allocatable', textMap),
  };
  return {
    ...present(maybe),
    id: nonEmptyText(form, 'id'),
    state: nameAmong(form, 'state', machineStates),
    instanceType: text(form, 'instance_type'),
    zone: text(form, 'zone', ''),
    capacityType: nameAmong(form, 'capacity_type', capacityTypes),
    pricePerHour: finite(own(form, 'price_per_hour'), 'price_per_hour'),
    interruptionProbability: finite(
      own(form, 'interruption_probability'),
      'interruption_probability',
    ),
    resources: textMap(own(form, 'resources') ?? {}),
    labels: textMap(own(form, 'labels') ?? {}),
    lastError: text(form, 'last_error', ''),
    cluster: text(form, 'cluster', ''),
    shardMetadata: textMap(own(form, 'shard_metadata') ?? {}),
    modifiedRevision: count(form, 'modified_revision', 0),
  };
}

export function formOfFence(mark: FenceMark): FormOf<FenceMark> {
  return {
    shard_id: mark.shardId,
    machine_id: mark.machineId,
    epoch: String(mark.epoch),
    sequence: String(mark.sequence),
  };
}

/** Undefined for the oldest layout, one mark per shard: the next call sets a better one. */
export function fenceOf(value: unknown): FenceMark | undefined {
  const form = objectOf(value, 'fence');
  const machineId = text(form, 'machine_id', '');
  if (machineId === '') return undefined;
  return {
    shardId: text(form, 'shard_id'),
    machineId,
    epoch: int64(own(form, 'epoch'), 'epoch'),
    sequence: int64(own(form, 'sequence'), 'sequence'),
  };
}

export function formOfOperation(operation: StoredOperation): FormOf<StoredOperation> {
  return {
    machine_id: operation.machineId,
    kind: operation.kind,
    operation_id: operation.operationId,
    grace_period_seconds:
      operation.gracePeriodSeconds === undefined ? undefined : String(operation.gracePeriodSeconds),
  };
}

export function operationOf(value: unknown): StoredOperation {
  const form = objectOf(value, 'operation');
  const maybe: OptionalOf<StoredOperation> = {
    gracePeriodSeconds: optional(form, 'grace_period_seconds', int64),
  };
  return {
    ...present(maybe),
    machineId: nonEmptyText(form, 'machine_id'),
    kind: nameAmong(form, 'kind', operationKinds),
    operationId: nonEmptyText(form, 'operation_id'),
  };
}

export function objectOf(value: unknown, what: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FormError(`a ${what} is not an object`);
  }
  return value as JsonObject;
}

export function text(form: JsonObject, key: string, absent?: string): string {
  const value = own(form, key) ?? absent;
  if (typeof value !== 'string') throw new FormError(`${key} is not a text`);
  return value;
}

/** A whole number that a double holds exactly. */
export function count(form: JsonObject, key: string, absent?: number): number {
  const value = own(form, key) ?? absent;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new FormError(`${key} is not a count`);
  }
  return value;
}

function hostOf(value: unknown): HostRef {
  const form = objectOf(value, 'host');
  return { provider: text(form, 'provider'), ref: text(form, 'ref') };
}

function textMap(value: unknown): ReadonlyMap<string, string> {
  const entries = Object.entries(objectOf(value, 'map')).map(([key, entry]): [string, string] => {
    if (typeof entry !== 'string') throw new FormError(`the value of ${key} is not a text`);
    return [key, entry];
  });
  return new Map(entries);
}

function nonEmptyText(form: JsonObject, key: string): string {
  const value = text(form, key);
  if (value === '') throw new FormError(`${key} is empty`);
  return value;
}

function nameAmong<Name extends string>(
  form: JsonObject,
  key: string,
  names: readonly Name[],
): Name {
  const value = text(form, key);
  const known = names.find((name) => name === value);
  if (known !== undefined) return known;
  throw new FormError(`${key} has the unknown name ${JSON.stringify(value)}`);
}

function finite(value: unknown, key: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new FormError(`${key} is not a finite number`);
  }
  return value;
}

const INT64 = /^-?[0-9]{1,19}$/;

/** Decimal text; a plain number only where no digit was lost on the way. */
function int64(value: unknown, key: string): bigint {
  const digits = Number.isSafeInteger(value) ? String(value) : value;
  if (typeof digits !== 'string' || !INT64.test(digits)) {
    throw new FormError(`${key} is not a 64-bit number`);
  }
  return BigInt(digits);
}

function optional<T>(
  form: JsonObject,
  key: string,
  read: (value: unknown, key: string) => T,
): T | undefined {
  const value = own(form, key);
  return value === undefined || value === null ? undefined : read(value, key);
}

type Present<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** Without the fields that are not there: absent and undefined are different to the kit. */
function present<T extends object>(fields: T): Present<T> {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as Present<T>;
}

/** Own keys only: a file must not read `constructor` from the prototype. */
function own(form: JsonObject, key: string): unknown {
  return Object.hasOwn(form, key) ? form[key] : undefined;
}
