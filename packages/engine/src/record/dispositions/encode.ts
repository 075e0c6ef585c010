// Writes the dispositions of a cycle.
//
//   magic (u32) · format (u8) · cycle · cap fraction (f64) · limit of actions · actions
//   · counts: n, then code (u8) and count each
//   · runs: n, then places skipped since the last run, count and code (u8) each
//   · roll-ups: n, then cluster, code, count and detail each · unnamed roll-ups · checksum (u32)
//
// Numbers are varints where nothing else is said.

import { assert } from '@bigfleet/base';
import { ByteWriter } from '../../bytes/byte-writer.ts';
import { checksum } from '../sealed-bytes.ts';
import {
  type CycleDispositions,
  DISPOSITION_CODES,
  DISPOSITIONS_FORMAT,
  DISPOSITIONS_MAGIC,
  type DispositionCode,
  type DispositionRun,
  MAX_DISPOSITION_RUNS,
} from './format.ts';

const NUMBER_OF: ReadonlyMap<DispositionCode, number> = new Map(
  DISPOSITION_CODES.map((code, at) => [code, at]),
);

export function encodeDispositions(dispositions: CycleDispositions): Uint8Array<ArrayBuffer> {
  const { counts, runs, rollups } = dispositions;
  assert(runs.length <= MAX_DISPOSITION_RUNS, 'too many runs', { runs: runs.length });
  const out = new ByteWriter();
  out.uint32(DISPOSITIONS_MAGIC);
  out.byte(DISPOSITIONS_FORMAT);
  out.varint(dispositions.cycle);
  out.double(dispositions.reclaimCapFraction);
  out.varint(dispositions.maxActionsPerCycle);
  out.varint(dispositions.actionCount);
  out.varint(counts.size);
  for (const [code, count] of counts) {
    out.byte(NUMBER_OF.get(code) as number);
    out.varint(count);
  }
  writeRuns(out, runs);
  out.varint(rollups.length);
  for (const { cluster, code, count, detail } of rollups) {
    out.text(cluster);
    out.text(code);
    out.varint(count);
    out.text(detail);
  }
  out.varint(dispositions.unnamedRollupCount);
  out.uint32(checksum(out.written));
  return Uint8Array.from(out.written);
}

function writeRuns(out: ByteWriter, runs: readonly DispositionRun[]): void {
  out.varint(runs.length);
  let end = 0;
  for (const { first, count, code } of runs) {
    assert(first >= end && count > 0, 'runs overlap or are empty', { first, end, count });
    out.varint(first - end);
    out.varint(count);
    out.byte(NUMBER_OF.get(code) as number);
    end = first + count;
  }
}
