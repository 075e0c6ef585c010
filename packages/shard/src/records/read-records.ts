// Reads records back: of a running shard's directory or of a copy of one, oldest or newest first.
// A damaged segment gives what it has up to the damage, and says so. Frames are checked as they
// are taken, so a reader that lets others in between never holds them up for a whole segment.

import { type SegmentFiles, unlessMissing } from './segment-files.ts';
import {
  decodeSegment,
  FRAME_HEAD_BYTES,
  firstCycleOf,
  HEADER_BYTES,
  segmentRecords,
  type SegmentRest,
  type StoredRecord,
} from './segment-format.ts';

export interface RecordRange {
  readonly fromCycle?: bigint;
  readonly toCycle?: bigint;
  readonly fromUnixNanos?: bigint;
  readonly toUnixNanos?: bigint;
}

export interface ReadOptions extends RecordRange {
  readonly onDamage?: (segment: string, unreadBytes: number) => void;
  /** Whole frames of a kind that this build does not know; what it knows is read all the same. */
  readonly onUnknown?: (segment: string, frameCount: number) => void;
}

export async function* readRecords(
  files: SegmentFiles,
  options: ReadOptions = {},
): AsyncGenerator<StoredRecord, void> {
  for (const name of await segmentNames(files)) {
    const bytes = await unlessMissing(files.read(name));
    if (bytes === undefined) continue;
    const frames = segmentRecords(bytes);
    let step = frames.next();
    for (; step.done !== true; step = frames.next()) {
      if (isWanted(step.value, options)) yield step.value;
    }
    tellRest(name, step.value, options);
  }
}

/** The same, newest first. */
export async function* readNewestFirst(
  files: SegmentFiles,
  options: ReadOptions = {},
): AsyncGenerator<StoredRecord, void> {
  for (const name of (await segmentNames(files)).toReversed()) {
    const bytes = await unlessMissing(files.read(name));
    if (bytes === undefined) continue;
    const { records, ...rest } = decodeSegment(bytes);
    tellRest(name, rest, options);
    for (const record of records.toReversed()) if (isWanted(record, options)) yield record;
  }
}

function tellRest(
  segment: string,
  { unreadBytes, unknownFrameCount }: SegmentRest,
  { onDamage, onUnknown }: ReadOptions,
): void {
  if (unreadBytes > 0) onDamage?.(segment, unreadBytes);
  if (unknownFrameCount > 0) onUnknown?.(segment, unknownFrameCount);
}

/** Of the oldest record that is kept; 0 without one. */
export async function oldestCycle(files: SegmentFiles): Promise<bigint> {
  for (const name of await segmentNames(files)) {
    const head = await unlessMissing(files.read(name, HEADER_BYTES + FRAME_HEAD_BYTES));
    const cycle = head === undefined ? undefined : firstCycleOf(head);
    if (cycle !== undefined) return cycle;
  }
  return 0n;
}

async function segmentNames(files: SegmentFiles): Promise<string[]> {
  const segments = await files.list();
  return segments.filter(({ kind }) => kind === 'records').map(({ name }) => name);
}

export function isWanted(
  { cycle, atUnixNanos }: Pick<StoredRecord, 'cycle' | 'atUnixNanos'>,
  { fromCycle, toCycle, fromUnixNanos, toUnixNanos }: RecordRange,
): boolean {
  return (
    (fromCycle === undefined || cycle >= fromCycle) &&
    (toCycle === undefined || cycle <= toCycle) &&
    (fromUnixNanos === undefined || atUnixNanos >= fromUnixNanos) &&
    (toUnixNanos === undefined || atUnixNanos <= toUnixNanos)
  );
}
