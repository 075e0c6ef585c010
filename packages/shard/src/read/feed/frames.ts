// The frames of the live feed as bytes. Only what leaves the reader with everything up to a cycle
// carries a cursor: one that was taken from the middle of a snapshot would lose the rest of it.

import type { NeedRef } from '@bigfleet/engine';
import {
  CycleDeltaSchema,
  encodeInit,
  NeedRefSchema,
  WatchFrameSchema,
  type WatchHelloSchema,
} from '@bigfleet/wire';
import type { Init } from '../wire-init.ts';
import type { CycleChanges } from './cycle-changes.ts';
import { type Cursor, encodeCursor } from './cursor.ts';
import { field, joinBytes } from './message-bytes.ts';
import type { Selection } from './selection.ts';

/** Field numbers of services.proto; the test reads every frame back with the generated code. */
const FRAME = { snapshot: 3, delta: 5, record: 6 } as const;
const SNAPSHOT = { machines: 1, needs: 2 } as const;
const DELTA = { machinesChanged: 3, machinesRemoved: 4, needsChanged: 5, needsRemoved: 6 } as const;

export function helloFrame(
  hello: Init<typeof WatchHelloSchema>,
  cursor: Cursor | undefined,
): Uint8Array {
  return encodeInit(WatchFrameSchema, {
    cursor: cursor === undefined ? new Uint8Array(0) : encodeCursor(cursor),
    frame: { case: 'hello', value: hello },
  });
}

export function snapshotFrame(kind: 'machines' | 'needs', rows: readonly Uint8Array[]): Uint8Array {
  return field(FRAME.snapshot, joinBytes(rows.map((row) => field(SNAPSHOT[kind], row))));
}

export function snapshotEndFrame(
  totals: { readonly machines: number; readonly needs: number },
  cursor: Cursor,
): Uint8Array {
  return encodeInit(WatchFrameSchema, {
    cursor: encodeCursor(cursor),
    frame: { case: 'snapshotEnd', value: totals },
  });
}

export function laggedFrame(skippedCycles: number): Uint8Array {
  return encodeInit(WatchFrameSchema, {
    frame: { case: 'lagged', value: { skippedCycles: BigInt(skippedCycles) } },
  });
}

/** Without a cursor: whoever resumes gets the record of an unfinished cycle again. */
export function recordFrame(record: Uint8Array): Uint8Array {
  return field(FRAME.record, record);
}

export function deltaFrame(changes: CycleChanges, selection: Selection, epoch: bigint): Uint8Array {
  const cursor = encodeInit(WatchFrameSchema, {
    cursor: encodeCursor({ epoch, cycle: changes.cycle, rows: selection.rows }),
  });
  return joinBytes([cursor, field(FRAME.delta, deltaBytes(changes, selection))]);
}

function deltaBytes(changes: CycleChanges, selection: Selection): Uint8Array {
  const { cycle, atUnixNanos, actions, shortfallCount, dollarsPerHour } = changes;
  const head = encodeInit(CycleDeltaSchema, {
    cycle: BigInt(cycle),
    atUnixNanos,
    actions: { ...actions },
    shortfalls: shortfallCount,
    dollarsPerHour,
  });
  const parts = [head];
  for (const change of changes.machines) {
    const shown = selection.machineChange(change);
    if (shown?.bytes !== undefined) parts.push(field(DELTA.machinesChanged, shown.bytes));
    else if (shown !== undefined) parts.push(field(DELTA.machinesRemoved, utf8.encode(shown.id)));
  }
  for (const change of changes.needs) {
    const shown = selection.needChange(change);
    if (shown?.bytes !== undefined) parts.push(field(DELTA.needsChanged, shown.bytes));
    else if (shown !== undefined) parts.push(field(DELTA.needsRemoved, refBytes(shown.ref)));
  }
  return joinBytes(parts);
}

const utf8 = new TextEncoder();

function refBytes({ cluster, fingerprint, group }: NeedRef): Uint8Array {
  return encodeInit(NeedRefSchema, { clusterId: cluster, profileFingerprint: fingerprint, group });
}
