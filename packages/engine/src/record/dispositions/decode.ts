// Reads the dispositions of a cycle back. Bytes may come from a damaged file or a stranger: a wrong
// checksum, an unknown format, a code or a place that cannot be is an error value, never a half.

import { err, ok, type Result } from '@bigfleet/base';
import type { ByteReader } from '../../bytes/byte-reader.ts';
import { checksum, RecordError, recordReader } from '../sealed-bytes.ts';
import {
  type CycleDispositions,
  DISPOSITION_CODES,
  DISPOSITIONS_FORMAT,
  DISPOSITIONS_MAGIC,
  type DispositionCode,
  type DispositionRun,
  type RefusedRollup,
} from './format.ts';

const CHECKSUM_BYTES = 4;
const MAGIC_BYTES = 4;

/** Whether the bytes claim to be dispositions, and not a decision record. */
export function isDispositions(bytes: Uint8Array): boolean {
  return bytes.length >= MAGIC_BYTES && recordReader(bytes).uint32() === DISPOSITIONS_MAGIC;
}

export function decodeDispositions(bytes: Uint8Array): Result<CycleDispositions, RecordError> {
  try {
    return ok(read(recordReader(verified(bytes))));
  } catch (error) {
    if (error instanceof RecordError) return err(error);
    throw error;
  }
}

/** The bytes behind magic and format and before their checksum, which must fit. */
function verified(bytes: Uint8Array): Uint8Array {
  const end = bytes.length - CHECKSUM_BYTES;
  if (end <= MAGIC_BYTES) throw new RecordError('the dispositions end too early');
  if (!isDispositions(bytes)) throw new RecordError('no dispositions');
  const format = bytes[MAGIC_BYTES];
  if (format !== DISPOSITIONS_FORMAT) {
    throw new RecordError(`unknown format of dispositions ${format}`);
  }
  const content = bytes.subarray(0, end);
  if (checksum(content) !== recordReader(bytes.subarray(end)).uint32()) {
    throw new RecordError('the checksum does not fit');
  }
  return content.subarray(MAGIC_BYTES + 1);
}

function read(reader: ByteReader): CycleDispositions {
  const cycle = reader.varint();
  const reclaimCapFraction = reader.double();
  const maxActionsPerCycle = reader.varint();
  const actionCount = reader.varint();
  const counts = readCounts(reader);
  const runs = readRuns(reader, actionCount);
  const rollups = reader.list(() => readRollup(reader));
  const unnamedRollupCount = reader.varint();
  if (!reader.isAtEnd) throw new RecordError('bytes after the end');
  assertCounted(counts, runs, actionCount);
  const rails = { reclaimCapFraction, maxActionsPerCycle };
  return { cycle, ...rails, actionCount, counts, runs, rollups, unnamedRollupCount };
}

function readCounts(reader: ByteReader): Map<DispositionCode, number> {
  const counts = new Map<DispositionCode, number>();
  for (let left = reader.count(); left > 0; left--) {
    const code = readCode(reader);
    if (counts.has(code)) throw new RecordError('a code is counted twice');
    counts.set(code, reader.varint());
  }
  return counts;
}

function readRuns(reader: ByteReader, actionCount: number): DispositionRun[] {
  const runs: DispositionRun[] = [];
  let end = 0;
  for (let left = reader.count(); left > 0; left--) {
    const first = end + reader.varint();
    const count = reader.varint();
    end = first + count;
    if (count === 0 || end > actionCount) throw new RecordError('a run leads nowhere');
    runs.push({ first, count, code: readCode(reader) });
  }
  return runs;
}

function readRollup(reader: ByteReader): RefusedRollup {
  return {
    cluster: reader.text(),
    code: reader.text(),
    count: reader.varint(),
    detail: reader.text(),
  };
}

/** Runs name no more than was counted, and no more was counted than there is. */
function assertCounted(
  counts: ReadonlyMap<DispositionCode, number>,
  runs: readonly DispositionRun[],
  actionCount: number,
): void {
  const left = new Map(counts);
  for (const { code, count } of runs) left.set(code, (left.get(code) ?? 0) - count);
  let total = 0;
  for (const count of counts.values()) total += count;
  const isCounted = [...left.values()].every((count) => count >= 0);
  if (!isCounted || total > actionCount) throw new RecordError('the counts contradict the runs');
}

function readCode(reader: ByteReader): DispositionCode {
  const number = reader.byte();
  const code = DISPOSITION_CODES[number];
  if (code === undefined) throw new RecordError(`unknown disposition ${number}`);
  return code;
}
