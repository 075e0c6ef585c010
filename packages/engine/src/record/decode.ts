// Reads a decision record back. Bytes may come from a damaged segment: a wrong checksum, an
// unknown format or anything out of bounds is an error value, never a half-read record.

import { err, ok, type Result } from '@bigfleet/base';
import { isActionKind } from '../model/action.ts';
import { ByteReader, RecordError } from './byte-reader.ts';
import { checksum } from './checksum.ts';
import {
  CANDIDATE_CODES,
  type DecisionRecord,
  RECORD_FORMAT,
  RECORD_MAGIC,
  type RecordedAction,
  type RecordedCandidate,
  type RecordedClass,
  type RecordedNeed,
  UNMET_CODES,
} from './format.ts';

const CHECKSUM_BYTES = 4;

export function decodeRecord(bytes: Uint8Array): Result<DecisionRecord, RecordError> {
  try {
    return ok(read(verified(bytes)));
  } catch (error) {
    if (error instanceof RecordError) return err(error);
    throw error;
  }
}

/** The bytes without their checksum, which must fit. */
function verified(bytes: Uint8Array): Uint8Array {
  const end = bytes.length - CHECKSUM_BYTES;
  if (end < CHECKSUM_BYTES) throw new RecordError('the record ends too early');
  const content = bytes.subarray(0, end);
  const expected = new ByteReader(bytes.subarray(end)).uint32();
  const reader = new ByteReader(content);
  if (reader.uint32() !== RECORD_MAGIC) throw new RecordError('not a decision record');
  const format = reader.byte();
  if (format !== RECORD_FORMAT) throw new RecordError(`unknown record format ${format}`);
  if (checksum(content) !== expected) throw new RecordError('the checksum does not fit');
  return content;
}

function read(content: Uint8Array): DecisionRecord {
  const reader = new ByteReader(content);
  reader.uint32();
  reader.byte();
  const cycle = reader.varint();
  const nowMs = reader.double();
  const inputDigest = hex(reader.uint32()) + hex(reader.uint32());
  const actionChecksum = reader.uint32();
  const strings = readSection(reader, (section) => section.text());
  const classes = readSection(reader, readClass);
  const needs = readSection(reader, (section) => readNeed(section, strings, classes));
  for (let left = reader.count(); left > 0; left--) readShort(reader, needs);
  const actions: RecordedAction[] = [];
  for (let left = reader.count(); left > 0; left--) {
    actions.push(readAction(reader, strings, classes, needs.length));
  }
  if (!reader.isAtEnd) throw new RecordError('bytes after the end');
  return { cycle, nowMs, inputDigest, actionChecksum, needs, actions };
}

function readSection<T>(reader: ByteReader, readOne: (section: ByteReader) => T): T[] {
  const count = reader.count();
  const section = new ByteReader(reader.bytes(reader.varint()));
  const items: T[] = [];
  for (let left = count; left > 0; left--) items.push(readOne(section));
  if (!section.isAtEnd) throw new RecordError('a section has bytes left');
  return items;
}

function readClass(reader: ByteReader): RecordedClass {
  return {
    provider: reader.text(),
    instanceType: reader.text(),
    zone: reader.text(),
    capacityType: reader.byte(),
    pricePerHour: reader.double(),
    interruptionProbability: reader.double(),
  };
}

type OpenNeed = { -readonly [K in keyof RecordedNeed]: RecordedNeed[K] };

function readNeed(
  reader: ByteReader,
  strings: readonly string[],
  classes: readonly RecordedClass[],
): OpenNeed {
  const cluster = at(strings, reader.varint());
  const fingerprint = at(strings, reader.varint());
  const group = at(strings, reader.varint());
  const flags = reader.byte();
  const isSatisfied = (flags & 1) !== 0;
  return {
    cluster,
    fingerprint,
    group,
    isSatisfied,
    isParked: (flags & 2) !== 0,
    domain: (flags & 4) === 0 ? '' : reader.text(),
    creditedCount: reader.varint(),
    bootstrapCount: reader.varint(),
    provisionCount: reader.varint(),
    deficit: isSatisfied ? new Map() : readVector(reader),
    candidates: readCandidates(reader, classes),
    reasonCode: 'satisfied',
    victimCount: 0,
    awaitingDrainCount: 0,
    preemptionCode: undefined,
  };
}

function readVector(reader: ByteReader): Map<string, number> {
  const vector = new Map<string, number>();
  for (let left = reader.byte(); left > 0; left--) vector.set(reader.text(), reader.varint());
  return vector;
}

function readCandidates(
  reader: ByteReader,
  classes: readonly RecordedClass[],
): RecordedCandidate[] {
  const candidates: RecordedCandidate[] = [];
  for (let left = reader.byte(); left > 0; left--) {
    candidates.push({
      shape: at(classes, reader.varint()),
      pool: reader.byte() === 0 ? 'idle' : 'speculative',
      chosenCount: reader.varint(),
      leftCount: reader.varint(),
      code: at(CANDIDATE_CODES, reader.byte()),
    });
  }
  return candidates;
}

function readShort(reader: ByteReader, needs: readonly OpenNeed[]): void {
  const need = at(needs, reader.varint());
  need.reasonCode = at(UNMET_CODES, reader.byte());
  need.victimCount = reader.varint();
  need.awaitingDrainCount = reader.varint();
  need.preemptionCode = at(CANDIDATE_CODES, reader.byte());
}

function readAction(
  reader: ByteReader,
  strings: readonly string[],
  classes: readonly RecordedClass[],
  needCount: number,
): RecordedAction {
  const kind = reader.byte();
  if (!isActionKind(kind)) throw new RecordError(`unknown action kind ${kind}`);
  const machineId = reader.text();
  const cluster = reader.varint();
  const need = reader.varint() - 1;
  if (need >= needCount) throw new RecordError('an action names a need that is not there');
  return {
    kind,
    machineId,
    cluster: cluster === 0 ? '' : at(strings, cluster - 1),
    need,
    shape: at(classes, reader.varint()),
    graceSeconds: reader.varint(),
    effectivePriority: reader.signed(),
  };
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new RecordError('a reference leads nowhere');
  return item;
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0');
}
