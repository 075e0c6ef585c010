// Reads the lists of bound machines that Phase 2 looked at. Bytes may come from a damaged segment:
// anything out of bounds is a RecordError.

import { bucketUpperBoundDollars, decodePenaltyBucket } from '@bigfleet/base';
import type { ByteReader } from '../bytes/byte-reader.ts';
import { RecordError } from './sealed-bytes.ts';
import {
  CANDIDATE_CODES,
  isScoredCode,
  type RecordedClass,
  type RecordedVictim,
} from './format.ts';

export interface VictimList {
  readonly victims: readonly RecordedVictim[];
  readonly isVictimsTruncated: boolean;
}

/** Of needs that Phase 2 was not asked about, and of every need of format 1. */
export const NO_VICTIMS: VictimList = { victims: [], isVictimsTruncated: false };

export function readVictims(
  reader: ByteReader,
  shapeAt: (place: number) => RecordedClass,
): VictimList {
  const head = reader.byte();
  const victims: RecordedVictim[] = [];
  for (let left = head >>> 1; left > 0; left--) victims.push(readVictim(reader, shapeAt));
  return { victims, isVictimsTruncated: (head & 1) === 1 };
}

function readVictim(reader: ByteReader, shapeAt: (place: number) => RecordedClass): RecordedVictim {
  const shape = shapeAt(reader.varint());
  const effectivePriority = reader.signed();
  const interruptionPenalty = readPenalty(reader);
  const reclamationPenalty = readPenalty(reader);
  const number = reader.byte();
  const code = CANDIDATE_CODES[number];
  if (code === undefined) throw new RecordError('a reference leads nowhere');
  const isChosen = code === 'chosen';
  const count = reader.varint();
  return {
    shape,
    pool: 'bound',
    effectivePriority,
    interruptionPenalty,
    reclamationPenalty,
    score: isScoredCode(number) ? reader.double() : undefined,
    chosenCount: isChosen ? count : 0,
    leftCount: isChosen ? 0 : count,
    code,
    machineIds: readIds(reader),
  };
}

function readPenalty(reader: ByteReader): number {
  const bucket = decodePenaltyBucket(reader.byte());
  if (bucket === undefined) throw new RecordError('no such penalty bucket');
  return bucketUpperBoundDollars(bucket);
}

function readIds(reader: ByteReader): string[] {
  const ids: string[] = [];
  for (let left = reader.byte(); left > 0; left--) ids.push(reader.text());
  return ids;
}
