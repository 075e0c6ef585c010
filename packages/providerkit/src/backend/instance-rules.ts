// What a described instance must look like before it becomes a record (provider-contract §8, §16.1). Fatal
// at the first start, skipped with a warning later: one bad slot must not take the fleet's refresh
// down. Author code may be plain JavaScript, so nothing here trusts the types.

import { parseQuantity } from '@bigfleet/base';
import { capacityTypes, type MachineRecord } from '../model/machine.ts';
import { costProblem } from '../model/record-rules.ts';
import type { CreatedInstance, Instance } from './backend.ts';

export const MAX_NAME_LENGTH = 1_024;

/** Top-level fields under another name: the hot path reads the fields, and copies drift. */
const leakedLabels: readonly string[] = [
  'instance-type',
  'instance_type',
  'instanceType',
  'zone',
  'availability-zone',
  'availability_zone',
  'capacity-type',
  'capacity_type',
  'capacityType',
];

/** Undefined when valid, otherwise the rule that it breaks. */
export function instanceProblem(instance: Instance, requireZone: boolean): string | undefined {
  const state: string = stateOf(instance);
  const { id, host } = instance;
  if (!isName(id)) return `id must have 1 to ${MAX_NAME_LENGTH} characters`;
  if (state !== 'Speculative' && state !== 'Idle') return `state ${state} is not for a backend`;
  if (!isName(instance.instanceType)) return 'instance_type is empty or too long';
  if (!capacityTypes.includes(instance.capacityType)) return 'capacity_type is not one of the four';
  if (state === 'Speculative' && host !== undefined) return 'a Speculative slot has no host';
  if (state === 'Idle' && host === undefined) return 'an Idle machine needs a host';
  if (host !== undefined && !(isName(host.provider) && isName(host.ref))) return 'half a host';
  if (instance.zone === '' && (requireZone || host !== undefined)) return 'zone is empty';
  return costProblem(instance) ?? shapeProblem(instance);
}

/** What createInstance returned; a host without ref would settle Idle and break every later call. */
export function createdProblem(result: CreatedInstance): string | undefined {
  const { host } = result;
  if (!isName(host?.ref)) return 'the backend returned no host.ref';
  if (!isName(host.provider)) return 'the backend returned no host.provider';
  const { resources, allocatable } = result;
  if (!isMapOrAbsent(resources)) return 'resources must be a Map';
  if (!isMapOrAbsent(allocatable)) return 'allocatable must be a Map';
  return quantityProblem(resources, allocatable);
}

/** The record of an id that was not known before. */
export function recordOf(instance: Instance): MachineRecord {
  const { host } = instance;
  return {
    id: instance.id,
    state: stateOf(instance),
    ...(host === undefined ? {} : { host: { provider: host.provider, ref: host.ref } }),
    instanceType: instance.instanceType,
    zone: instance.zone,
    capacityType: instance.capacityType,
    pricePerHour: instance.pricePerHour,
    interruptionProbability: instance.interruptionProbability,
    resources: instance.resources,
    ...(instance.allocatable === undefined ? {} : { allocatable: instance.allocatable }),
    labels: instance.labels ?? noLabels,
    lastError: '',
    cluster: '',
    shardMetadata: noLabels,
    modifiedRevision: 0,
  };
}

const noLabels: ReadonlyMap<string, string> = new Map();

function stateOf(instance: Instance): 'Speculative' | 'Idle' {
  return instance.state ?? (instance.host === undefined ? 'Speculative' : 'Idle');
}

function isName(text: string | undefined): boolean {
  return typeof text === 'string' && text !== '' && text.length <= MAX_NAME_LENGTH;
}

function shapeProblem(instance: Instance): string | undefined {
  const { resources, allocatable, labels } = instance;
  if (!(resources instanceof Map)) return 'resources must be a Map';
  if (!isMapOrAbsent(allocatable)) return 'allocatable must be a Map';
  if (!isMapOrAbsent(labels)) return 'labels must be a Map';
  const leaked = leakedLabels.find((key) => labels?.has(key) === true);
  if (leaked !== undefined) return `label ${leaked} belongs in a top-level field`;
  return quantityProblem(resources, allocatable);
}

function isMapOrAbsent(map: ReadonlyMap<string, string> | undefined): boolean {
  return map === undefined || map instanceof Map;
}

/** Density = floor(allocatable / resources) must be computable. */
function quantityProblem(
  resources: ReadonlyMap<string, string> | undefined,
  allocatable: ReadonlyMap<string, string> | undefined,
): string | undefined {
  for (const [name, text] of resources ?? []) {
    const nanos = nanosOf(text);
    if (nanos === undefined || nanos < 0n) return `resources of ${name} is no quantity`;
    if (nanos === 0n && allocatable?.has(name) === true) return `resources of ${name} is zero`;
  }
  for (const [name, text] of allocatable ?? []) {
    const nanos = nanosOf(text);
    if (nanos === undefined || nanos < 0n) return `allocatable of ${name} is no quantity`;
  }
  return undefined;
}

/** A fleet spells its quantities in a few hundred ways; each is parsed once. */
const MAX_KNOWN_QUANTITIES = 10_000;
const knownQuantities = new Map<string, bigint | undefined>();

function nanosOf(text: string): bigint | undefined {
  if (knownQuantities.has(text)) return knownQuantities.get(text);
  const parsed = typeof text === 'string' ? parseQuantity(text) : undefined;
  const nanos = parsed?.ok === true ? parsed.value.nanos : undefined;
  if (knownQuantities.size < MAX_KNOWN_QUANTITIES) knownQuantities.set(text, nanos);
  return nanos;
}
