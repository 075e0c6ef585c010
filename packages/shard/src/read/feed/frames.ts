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
import { joinBytes } from '../../provider/list/byte-ranges.ts';
import type { Init } from '../wire-init.ts';
import type { CycleChanges } from './cycle-changes.ts';
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

// The resume cursor: which process, up to which cycle a reader knows everything, and of which rows:
// who asks for more when it comes back would miss what it never had. Opaque to readers; what cannot
// be read is no cursor, and the reader starts with a snapshot.

const BYTES = 17;

export interface Cursor {
  readonly epoch: bigint;
  readonly cycle: number;
  /** Bits: 1 machines, 2 needs. */
  readonly rows: number;
}

export function encodeCursor({ epoch, cycle, rows }: Cursor): Uint8Array {
  const bytes = new Uint8Array(BYTES);
  const view = new DataView(bytes.buffer);
  view.setBigInt64(0, epoch);
  view.setBigInt64(8, BigInt(cycle));
  view.setUint8(16, rows);
  return bytes;
}

export function decodeCursor(bytes: Uint8Array): Cursor | undefined {
  if (bytes.length !== BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const cycle = view.getBigInt64(8);
  if (cycle < 0n || cycle > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  return { epoch: view.getBigInt64(0), cycle: Number(cycle), rows: view.getUint8(16) };
}

// Messages put together out of parts that are encoded already: a row is encoded once and sent to
// every reader. Fields of one message may stand in any order and repeated ones add up, so encoded
// pieces of a message can simply be joined; a message inside another needs its tag and length.

const LENGTH_DELIMITED = 2;

/** A field of a message, bytes or string type. */
function field(number: number, content: Uint8Array): Uint8Array {
  const head = [...varint(number * 8 + LENGTH_DELIMITED), ...varint(content.length)];
  const bytes = new Uint8Array(head.length + content.length);
  bytes.set(head);
  bytes.set(content, head.length);
  return bytes;
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  return [...bytes, rest];
}
