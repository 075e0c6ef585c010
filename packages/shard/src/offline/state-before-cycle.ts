// Finds, in the traces of a records directory, the cycle that a record is of, and what it was
// decided from. Traces do not number cycles across files; the engine's time and the hash of the
// decided actions name one within an epoch.

import { type CycleInput, decodeRecord, TraceReader } from '@bigfleet/engine';
import { type SegmentFiles, segmentEpochOf, unlessMissing } from '../records/segment-files.ts';
import type { StoredRecord } from '../records/segment-format.ts';
import { TraceState } from './trace-state.ts';

/** Undefined when no trace of that cycle is kept. */
export async function stateBeforeCycle(
  files: SegmentFiles,
  stored: StoredRecord,
): Promise<CycleInput | undefined> {
  const record = decodeRecord(stored.payload);
  if (!record.ok) return undefined;
  const hash = Buffer.from(stored.actionHash).toString('hex');
  const traces = (await files.list()).filter(
    ({ name, kind }) => kind === 'trace' && segmentEpochOf(name) === stored.epoch,
  );
  for (const { name } of traces.toReversed()) {
    const bytes = await unlessMissing(files.read(name));
    if (bytes === undefined) continue;
    const place = placeOf(bytes, record.value.nowMs, hash);
    if (place !== undefined) return stateAt(bytes, place);
  }
  return undefined;
}

/** How many cycles of the trace come before it. */
function placeOf(bytes: Uint8Array, nowMs: number, hash: string): number | undefined {
  let cycleCount = 0;
  let isCandidate = false;
  for (const entry of new TraceReader(bytes)) {
    if (entry.kind === 'cycle') {
      isCandidate = entry.options.nowMs === nowMs;
      cycleCount += 1;
    } else if (entry.kind === 'decided' && isCandidate && entry.decided.hash === hash) {
      return cycleCount - 1;
    }
  }
  return undefined;
}

function stateAt(bytes: Uint8Array, place: number): CycleInput | undefined {
  const state = new TraceState();
  let left = place;
  for (const entry of new TraceReader(bytes)) {
    if (entry.kind === 'cycle' && left-- === 0) return state.inputOf(entry.options);
    state.apply(entry);
  }
  return undefined;
}
