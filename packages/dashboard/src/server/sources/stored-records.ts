// Decision records that a shard keeps, of a span of time, newest first by parts and then told oldest first.
// Bounded by bytes and by time: what does not fit is the oldest part, never a hole in the middle.

import { type Runtime, withDeadline } from '@bigfleet/base';
import type { Client, ShardQuery } from '@bigfleet/wire';
import type { RecordFacts } from '../../model/index.ts';
import { recordFacts } from './translate.ts';

export interface StoredRecordsOptions {
  readonly runtime: Runtime;
  readonly query: Client<typeof ShardQuery>;
  readonly fromMs: number;
  readonly toMs: number;
  readonly signal: AbortSignal;
}

export interface StoredRecords {
  readonly records: readonly RecordFacts[];
  /** Why older ones are missing; undefined when none are, or when they are more than is kept. */
  readonly problem: unknown;
}

const WITHIN_MS = 10_000;
const MAX_BYTES = 16 * 2 ** 20;
/** Each part costs the shard a look at its files: few, and the newest small. */
const PARTS_MS = [60_000, 240_000, 900_000, 2_400_000];
const NANOS_PER_MS = 1_000_000n;

export async function storedRecords(options: StoredRecordsOptions): Promise<StoredRecords> {
  const { runtime, fromMs, toMs, signal } = options;
  const deadline = withDeadline(runtime, WITHIN_MS, signal);
  const parts: RecordFacts[][] = [];
  let leftBytes = MAX_BYTES;
  let endMs = toMs;
  try {
    for (const spanMs of PARTS_MS) {
      if (endMs <= fromMs) break;
      const startMs = Math.max(fromMs, endMs - spanMs);
      const part = await readPart(options, { startMs, endMs, leftBytes }, deadline.signal);
      if (part === undefined) break;
      parts.unshift(part.records);
      leftBytes -= part.bytes;
      endMs = startMs;
    }
    return { records: parts.flat(), problem: undefined };
  } catch (problem) {
    return { records: parts.flat(), problem: signal.aborted ? undefined : problem };
  } finally {
    deadline.dispose();
  }
}

interface Part {
  readonly startMs: number;
  readonly endMs: number;
  readonly leftBytes: number;
}

/** Undefined when it holds more than may be kept. */
async function readPart(
  { query }: StoredRecordsOptions,
  { startMs, endMs, leftBytes }: Part,
  signal: AbortSignal,
): Promise<{ readonly records: RecordFacts[]; readonly bytes: number } | undefined> {
  const range = { fromUnixNanos: nanosOf(startMs), toUnixNanos: nanosOf(endMs) };
  const records: RecordFacts[] = [];
  let bytes = 0;
  for await (const frame of query.listRecords(range, { signal })) {
    bytes += frame.payload.length;
    if (bytes > leftBytes) return undefined;
    records.push(recordFacts(frame));
  }
  return { records, bytes };
}

function nanosOf(ms: number): bigint {
  return BigInt(Math.floor(ms)) * NANOS_PER_MS;
}
