// What a describe may change on a record that is already known: price, probability, resources,
// allocatable, labels. Never state, host, binding, metadata or error, which are the store's truth,
// and never instance type, zone or capacity type, which are identity (provider-contract §16.3).

import type { Instance } from '../backend/backend.ts';
import { type MapInterner, sameEntries } from '../fleet/map-interner.ts';
import type { MachineRecord } from '../model/machine.ts';

/** The very same record when nothing differs, so that an idle tick bumps nothing. */
export function refreshed(
  record: MachineRecord,
  instance: Instance,
  interner: MapInterner,
): MachineRecord {
  if (isCurrent(record, instance)) return record;
  const { allocatable: _allocatable, ...rest } = record;
  return {
    ...rest,
    pricePerHour: instance.pricePerHour,
    interruptionProbability: instance.interruptionProbability,
    resources: interner.intern(instance.resources),
    ...(instance.allocatable === undefined
      ? {}
      : { allocatable: interner.intern(instance.allocatable) }),
    labels: interner.intern(instance.labels ?? noLabels),
  };
}

const noLabels: ReadonlyMap<string, string> = new Map();

function isCurrent(record: MachineRecord, instance: Instance): boolean {
  return (
    record.pricePerHour === instance.pricePerHour &&
    record.interruptionProbability === instance.interruptionProbability &&
    sameEntries(record.resources, instance.resources) &&
    sameEntries(record.allocatable, instance.allocatable) &&
    sameEntries(record.labels, instance.labels ?? noLabels)
  );
}

/** The record of a new id, with its maps shared. */
export function interned(record: MachineRecord, interner: MapInterner): MachineRecord {
  return {
    ...record,
    resources: interner.intern(record.resources),
    ...(record.allocatable === undefined
      ? {}
      : { allocatable: interner.intern(record.allocatable) }),
    labels: interner.intern(record.labels),
  };
}
