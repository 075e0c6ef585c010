// What a describe may change on a record that is already known: price, probability, resources,
// allocatable, labels. Never state, host, binding, metadata or error, which are the store's truth,
// and never instance type, zone or capacity type, which are identity (provider-contract §16.3).

import type { Instance } from '../backend/backend.ts';
import { recordOf } from '../backend/instance-rules.ts';
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
  return { ...rest, ...factsOf(instance, interner) };
}

/** The record of an id that is not known yet, with its maps shared. */
export function seeded(instance: Instance, interner: MapInterner): MachineRecord {
  return { ...recordOf(instance), ...factsOf(instance, interner) };
}

function factsOf(instance: Instance, interner: MapInterner): Partial<MachineRecord> {
  const { pricePerHour, interruptionProbability, allocatable } = instance;
  return {
    pricePerHour,
    interruptionProbability,
    resources: interner.intern(instance.resources),
    ...(allocatable === undefined ? {} : { allocatable: interner.intern(allocatable) }),
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
