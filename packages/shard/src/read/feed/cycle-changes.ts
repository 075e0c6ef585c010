// What one cycle changed, as the feed keeps it: rows encoded once, with what filters look at. Several
// of them can be merged into one, in which the last word about a row counts.

import type { NeedRef } from '@bigfleet/engine';

export interface MachineChange {
  readonly id: string;
  /** Empty when unbound or removed. */
  readonly cluster: string;
  /** A MachineView; undefined when the machine was removed. */
  readonly bytes: Uint8Array | undefined;
}

export interface NeedChange {
  readonly ref: NeedRef;
  /** A NeedView; undefined when the need is gone. */
  readonly bytes: Uint8Array | undefined;
}

export interface CycleFacts {
  readonly cycle: number;
  readonly atUnixNanos: bigint;
  /** By kind name. */
  readonly actions: Readonly<Record<string, number>>;
  readonly shortfallCount: number;
  readonly dollarsPerHour: number;
}

export interface CycleChanges extends CycleFacts {
  readonly machines: readonly MachineChange[];
  readonly needs: readonly NeedChange[];
  /** RecordFrames, oldest first. */
  readonly records: readonly Uint8Array[];
  /** Of machines and needs. */
  readonly rowBytes: number;
}

export function rowBytesOf(
  machines: readonly MachineChange[],
  needs: readonly NeedChange[],
): number {
  let bytes = 0;
  for (const change of machines) bytes += change.bytes?.length ?? change.id.length;
  for (const { bytes: row, ref } of needs) bytes += row?.length ?? ref.fingerprint.length;
  return bytes;
}

/** In their order; undefined for none. */
export function mergeChanges(all: readonly CycleChanges[]): CycleChanges | undefined {
  const last = all.at(-1);
  if (last === undefined || all.length === 1) return last;
  const machines = new Map<string, MachineChange>();
  const needs = new Map<string, NeedChange>();
  const actions: Record<string, number> = {};
  for (const changes of all) {
    for (const change of changes.machines) machines.set(change.id, change);
    for (const change of changes.needs) needs.set(refKey(change.ref), change);
    for (const [kind, count] of Object.entries(changes.actions)) {
      actions[kind] = (actions[kind] ?? 0) + count;
    }
  }
  const rows = { machines: [...machines.values()], needs: [...needs.values()] };
  const rowBytes = rowBytesOf(rows.machines, rows.needs);
  const records = all.flatMap((changes) => changes.records);
  return { ...last, ...rows, actions, rowBytes, records };
}

/** Fingerprint and group may hold any character. */
export function refKey({ cluster, fingerprint, group }: NeedRef): string {
  return `${cluster}\u0000${fingerprint.length}:${fingerprint}${group}`;
}
