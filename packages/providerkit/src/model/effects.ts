// What each step does to a record, as pure functions: record in, record out. Binding and metadata
// live and die together (provider-contract §7), and no step blanks a substrate field. `modifiedRevision` is
// the ledger's to set; whatever stands there on the way is replaced.

import { edges, type HostRef, type MachineRecord, type OperationKind } from './machine.ts';

type Binding = Pick<MachineRecord, 'cluster' | 'shardMetadata'>;

const noMetadata: ReadonlyMap<string, string> = new Map();
const unbound: Binding = { cluster: '', shardMetadata: noMetadata };

/** Enters the transitional state; a Configure takes its binding with it, visible from now on. */
export function accepted(
  record: MachineRecord,
  kind: OperationKind,
  binding: Binding | undefined,
): MachineRecord {
  return { ...record, ...binding, state: edges[kind].transitional };
}

export function created(
  record: MachineRecord,
  result: { readonly host: HostRef } & Partial<Pick<MachineRecord, 'resources' | 'allocatable'>>,
): MachineRecord {
  const { provider, ref } = result.host;
  return {
    ...record,
    state: 'Idle',
    host: { provider, ref },
    ...(result.resources === undefined ? {} : { resources: new Map(result.resources) }),
    ...(result.allocatable === undefined ? {} : { allocatable: new Map(result.allocatable) }),
  };
}

export function configured(record: MachineRecord): MachineRecord {
  return { ...record, state: 'Configured' };
}

/** A stale echo would give a dead workload's priority to the machine's next tenant. */
export function drained(record: MachineRecord): MachineRecord {
  return { ...record, ...unbound, state: 'Idle' };
}

export function deleted(record: MachineRecord): MachineRecord {
  return { ...withoutHost(record), ...unbound, state: 'Speculative' };
}

/** Host and binding stay for diagnosis. */
export function failed(record: MachineRecord, lastError: string): MachineRecord {
  return { ...record, state: 'Failed', lastError };
}

/** Out of Failed by cleanup: Idle on a wiped host, or an empty slot. */
export function settled(record: MachineRecord, host: HostRef | undefined): MachineRecord {
  const clean = { ...withoutHost(record), ...unbound, lastError: '' };
  if (host === undefined) return { ...clean, state: 'Speculative' };
  return { ...clean, state: 'Idle', host: { provider: host.provider, ref: host.ref } };
}

/** What was observed on a host ends with it. */
function withoutHost(record: MachineRecord): MachineRecord {
  const { host: _host, observedProbability: _observed, ...slot } = record;
  return slot;
}
