// Reads a decision record back. Bytes may come from a damaged segment: a wrong checksum, an
// unknown format or anything out of bounds is an error value, never a half-read record.

import { err, ok, type Result } from '@bigfleet/base';
import { ActionKind, isActionKind } from '../model/action.ts';
import type { ByteReader } from '../bytes/byte-reader.ts';
import { checksum, RecordError, recordReader } from './sealed-bytes.ts';
import {
  CANDIDATE_CODES,
  type DecisionRecord,
  HAS_DOMAIN,
  IS_PARKED,
  IS_SATISFIED,
  OLDEST_FORMAT,
  RECORD_FORMAT,
  RECORD_MAGIC,
  type RecordedAction,
  type RecordedCandidate,
  type RecordedClass,
  type RecordedNeed,
  UNMET_CODES,
} from './format.ts';
import { NO_VICTIMS, readVictims, type VictimList } from './read-victims.ts';

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
  const expected = recordReader(bytes.subarray(end)).uint32();
  const reader = recordReader(content);
  if (reader.uint32() !== RECORD_MAGIC) throw new RecordError('not a decision record');
  const format = reader.byte();
  if (format < OLDEST_FORMAT || format > RECORD_FORMAT)
    throw new RecordError(`unknown record format ${format}`);
  if (checksum(content) !== expected) throw new RecordError('the checksum does not fit');
  return content;
}

function read(content: Uint8Array): DecisionRecord {
  const reader = recordReader(content);
  reader.uint32();
  const hasVictims = reader.byte() > OLDEST_FORMAT;
  const cycle = reader.varint();
  const nowMs = reader.double();
  const inputDigest = hex(reader.uint32()) + hex(reader.uint32());
  const actionChecksum = reader.uint32();
  const strings = readSection(reader, (section) => section.text());
  const classes = readSection(reader, readClass);
  const lists = readSection(reader, (section) => readList(section, classes.length));
  const needs = readSection(reader, (section) => readNeed(section, strings, lists));
  const shapeAt = (place: number): RecordedClass => at(classes, place).shape;
  const victims = hasVictims
    ? readSection(reader, (section) => readVictims(section, shapeAt))
    : undefined;
  for (let left = reader.count(); left > 0; left--) readShort(reader, needs, victims);
  const otherCount = reader.count();
  const actions: RecordedAction[] = [];
  for (const [index, need] of needs.entries()) {
    need.candidates = readTurn(reader, need, index, classes, actions);
  }
  for (let left = otherCount; left > 0; left--) {
    actions.push(readOther(reader, strings, classes, needs.length));
  }
  if (!reader.isAtEnd) throw new RecordError('bytes after the end');
  return { cycle, nowMs, inputDigest, actionChecksum, needs: needs.map(asRecorded), actions };
}

function readSection<T>(reader: ByteReader, readOne: (section: ByteReader) => T): T[] {
  const count = reader.count();
  const section = recordReader(reader.bytes(reader.varint()));
  const items: T[] = [];
  for (let left = count; left > 0; left--) items.push(readOne(section));
  if (!section.isAtEnd) throw new RecordError('a section has bytes left');
  return items;
}

/** A class and what is left of it, while the turns of the needs are read in order. */
interface OpenClass {
  readonly shape: RecordedClass;
  /** In the Idle and the Speculative pool. */
  readonly left: [number, number];
}

function readClass(reader: ByteReader): OpenClass {
  const shape = {
    provider: reader.text(),
    instanceType: reader.text(),
    zone: reader.text(),
    capacityType: reader.byte(),
    pricePerHour: reader.double(),
    interruptionProbability: reader.double(),
  };
  return { shape, left: [reader.varint(), reader.varint()] };
}

interface ListRow {
  readonly klass: number;
  readonly pool: 0 | 1;
  readonly code: RecordedCandidate['code'];
}

function readList(reader: ByteReader, classCount: number): ListRow[] {
  const rows: ListRow[] = [];
  for (let left = reader.byte(); left > 0; left--) {
    const klass = reader.varint();
    if (klass >= classCount) throw new RecordError('a reference leads nowhere');
    const code = reader.byte();
    rows.push({ klass, pool: (code & 1) as 0 | 1, code: at(CANDIDATE_CODES, code >>> 1) });
  }
  return rows;
}

type OpenNeed = { -readonly [K in keyof RecordedNeed]: RecordedNeed[K] } & {
  readonly list: readonly ListRow[];
};

function readNeed(
  reader: ByteReader,
  strings: readonly string[],
  lists: readonly (readonly ListRow[])[],
): OpenNeed {
  const cluster = at(strings, reader.varint());
  const fingerprint = at(strings, reader.varint());
  const group = at(strings, reader.varint());
  const flags = reader.varint();
  const isSatisfied = (flags & IS_SATISFIED) !== 0;
  return {
    cluster,
    fingerprint,
    group,
    isSatisfied,
    isParked: (flags & IS_PARKED) !== 0,
    creditedCount: reader.varint(),
    bootstrapCount: reader.varint(),
    provisionCount: reader.varint(),
    list: at(lists, reader.varint()),
    domain: (flags & HAS_DOMAIN) === 0 ? '' : reader.text(),
    deficit: isSatisfied ? new Map() : readVector(reader),
    candidates: [],
    reasonCode: 'satisfied',
    victimCount: 0,
    awaitingDrainCount: 0,
    preemptionCode: undefined,
    ...NO_VICTIMS,
  };
}

function readVector(reader: ByteReader): Map<string, number> {
  const vector = new Map<string, number>();
  for (let left = reader.byte(); left > 0; left--) vector.set(reader.text(), reader.varint());
  return vector;
}

/** The acquisitions of a need, and its candidates as they were when its turn was over. */
function readTurn(
  reader: ByteReader,
  need: OpenNeed,
  index: number,
  classes: readonly OpenClass[],
  actions: RecordedAction[],
): RecordedCandidate[] {
  const chosen = new Map<number, number>();
  let provisions = 0;
  for (let left = need.bootstrapCount + need.provisionCount; left > 0; left--) {
    const machineId = reader.text();
    const code = reader.varint();
    const isProvision = code % 2 === 1;
    const klass = at(classes, Math.floor(code / 2));
    klass.left[isProvision ? 1 : 0] -= 1;
    chosen.set(code, (chosen.get(code) ?? 0) + 1);
    provisions += isProvision ? 1 : 0;
    actions.push({
      kind: isProvision ? ActionKind.Provision : ActionKind.Bootstrap,
      machineId,
      cluster: need.cluster,
      need: index,
      shape: klass.shape,
      graceSeconds: 0,
      effectivePriority: 0,
    });
  }
  if (provisions !== need.provisionCount) throw new RecordError('a need took otherwise');
  return need.list.map(({ klass, pool, code }) => {
    const { shape, left } = at(classes, klass);
    return {
      shape,
      pool: pool === 0 ? 'idle' : 'speculative',
      chosenCount: chosen.get(klass * 2 + pool) ?? 0,
      // What is of no use in either pool is one candidate.
      leftCount: isUnusable(code) ? left[0] + left[1] : left[pool],
      code,
    };
  });
}

function isUnusable(code: RecordedCandidate['code']): boolean {
  return code === 'min_unit_too_small' || code === 'infinite_cost';
}

function asRecorded({ list: _, ...need }: OpenNeed): RecordedNeed {
  return need;
}

/** `lists` is undefined for format 1, whose needs name none. */
function readShort(
  reader: ByteReader,
  needs: readonly OpenNeed[],
  lists: readonly VictimList[] | undefined,
): void {
  const need = at(needs, reader.varint());
  need.reasonCode = at(UNMET_CODES, reader.byte());
  need.victimCount = reader.varint();
  need.awaitingDrainCount = reader.varint();
  need.preemptionCode = at(CANDIDATE_CODES, reader.byte());
  if (lists === undefined) return;
  const place = reader.varint();
  const { victims, isVictimsTruncated } = place === 0 ? NO_VICTIMS : at(lists, place - 1);
  need.victims = victims;
  need.isVictimsTruncated = isVictimsTruncated;
}

function readOther(
  reader: ByteReader,
  strings: readonly string[],
  classes: readonly OpenClass[],
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
    shape: at(classes, reader.varint()).shape,
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
