// Replays every trace of a records directory and compares: what each cycle decides now with what
// the trace says, and what the trace says with the decision records beside it. A damaged trace is
// replayed up to the damage.

import {
  decodeRecord,
  describeReplay,
  replay,
  type ReplayMode,
  type ReplayReport,
  TraceReader,
} from '@bigfleet/engine';
import { readRecords } from '../records/read-records.ts';
import { type SegmentFiles, segmentEpochOf, unlessMissing } from '../records/segment-files.ts';

export interface ReplayedTrace {
  readonly name: string;
  readonly report: ReplayReport;
}

export interface DirectoryReplay {
  /** `nothing`: the directory holds no cycle that could be replayed. */
  readonly outcome: 'identical' | 'different' | 'failed' | 'nothing';
  readonly traces: readonly ReplayedTrace[];
  readonly recordCount: number;
  /** Records whose cycle is in a trace, with the same actions. */
  readonly matchedCount: number;
  /** Records whose cycle is in a trace, with other actions. */
  readonly contradictedCount: number;
  readonly damage: readonly string[];
}

export async function replayDirectory(
  files: SegmentFiles,
  options: { readonly mode?: ReplayMode } = {},
): Promise<DirectoryReplay> {
  const traces: ReplayedTrace[] = [];
  const hashes = new Map<string, Set<string>>();
  for (const { name, kind } of await files.list()) {
    const bytes = kind === 'trace' ? await unlessMissing(files.read(name)) : undefined;
    if (bytes === undefined) continue;
    traces.push({ name, report: replay(bytes, options) });
    for (const [key, hash] of decidedIn(bytes, segmentEpochOf(name))) {
      hashes.set(key, (hashes.get(key) ?? new Set()).add(hash));
    }
  }
  const records = await compareRecords(files, hashes);
  return { outcome: outcomeOf(traces, records.contradictedCount), traces, ...records };
}

export function describeDirectoryReplay(result: DirectoryReplay): string {
  const { outcome, traces, recordCount, matchedCount, contradictedCount, damage } = result;
  return [
    ...traces.map(({ name, report }) => `${name}\n${describeReplay(report)}`),
    ...damage,
    `records: ${recordCount}, in traces ${matchedCount}, contradicted ${contradictedCount}`,
    `outcome: ${outcome}`,
  ].join('\n');
}

function outcomeOf(
  traces: readonly ReplayedTrace[],
  contradictedCount: number,
): DirectoryReplay['outcome'] {
  const outcomes = traces.map(({ report }) => report.outcome);
  if (outcomes.includes('failed')) return 'failed';
  if (outcomes.includes('different') || contradictedCount > 0) return 'different';
  return traces.some(({ report }) => report.verifiedCount > 0) ? 'identical' : 'nothing';
}

/** What each cycle of a trace decided, by epoch and the engine's time. */
function* decidedIn(bytes: Uint8Array, epoch: bigint | undefined): Generator<[string, string]> {
  let nowMs = 0;
  for (const entry of new TraceReader(bytes)) {
    if (entry.kind === 'cycle') nowMs = entry.options.nowMs;
    else if (entry.kind === 'decided') yield [placeKey(epoch, nowMs), entry.decided.hash];
  }
}

async function compareRecords(
  files: SegmentFiles,
  hashes: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<Omit<DirectoryReplay, 'outcome' | 'traces'>> {
  const damage: string[] = [];
  const onDamage = (name: string, bytes: number): void => {
    damage.push(`${name}: ${bytes} bytes at its end are damaged and were not read`);
  };
  const onUnknown = (name: string, frameCount: number): void => {
    damage.push(`${name}: ${frameCount} frames of a kind that this build does not know`);
  };
  let recordCount = 0;
  let matchedCount = 0;
  let contradictedCount = 0;
  for await (const { epoch, payload, actionHash } of readRecords(files, { onDamage, onUnknown })) {
    recordCount += 1;
    const record = decodeRecord(payload);
    // Two cycles can share a millisecond.
    const known = record.ok ? hashes.get(placeKey(epoch, record.value.nowMs)) : undefined;
    if (known === undefined) continue;
    if (known.has(Buffer.from(actionHash).toString('hex'))) matchedCount += 1;
    else contradictedCount += 1;
  }
  return { recordCount, matchedCount, contradictedCount, damage };
}

function placeKey(epoch: bigint | undefined, nowMs: number): string {
  return `${epoch ?? ''}/${nowMs}`;
}
