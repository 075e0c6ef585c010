// A copy for code outside the kit. Types say readonly, but author code may be JavaScript: a backend
// that edits a label of its copy must not edit ten thousand machines that share the map.

import type { MachineRecord } from './machine.ts';

export function detached(record: MachineRecord): MachineRecord {
  return {
    ...record,
    ...(record.host === undefined ? {} : { host: { ...record.host } }),
    resources: new Map(record.resources),
    ...(record.allocatable === undefined ? {} : { allocatable: new Map(record.allocatable) }),
    labels: new Map(record.labels),
    shardMetadata: new Map(record.shardMetadata),
  };
}
