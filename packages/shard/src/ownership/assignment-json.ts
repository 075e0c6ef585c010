// The content of assignment.json: a StoredAssignment, written whole and read strictly.

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
} from './json-fields.ts';

const VERSION = 1;
const KEYS: readonly (keyof StoredAssignment)[] = [
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
  try {
    return ok(read(parseFields(text, VERSION, KEYS)));
  } catch (error) {
    if (error instanceof FileProblem) return err(error.message);
    throw error;
  }
}

function read(fields: Fields): StoredAssignment {
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

export function overrideOf(item: unknown): MachineOverride {
  const fields = fieldsOf(item, 'an override', ['machineId', 'transferId', 'peerShardId']);
  return {
    machineId: textOf(fields, 'machineId'),
    transferId: textOf(fields, 'transferId', true),
    peerShardId: textOf(fields, 'peerShardId', true),
  };
}
