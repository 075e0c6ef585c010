// Records as lines for a reader at a terminal: when, what was decided, what is short. A record that
// this build cannot read is a line too: silence would look like a cycle that never ran.

import {
  type ActionKindCode,
  actionKindName,
  type CycleDispositions,
  type DecisionRecord,
  decodeDispositions,
  decodeRecord,
  type DispositionCode,
  type RefusedRollup,
} from '@bigfleet/engine';
import type { SegmentFiles } from '../records/segment-files.ts';
import type { StoredRecord } from '../records/segment-format.ts';
import { type RecordQuery, scanRecords } from './scan-records.ts';

export interface RecordLine {
  readonly epoch: bigint;
  readonly cycle: bigint;
  readonly atUnixNanos: bigint;
  readonly actionHash: string;
  readonly bytes: number;
  /** Undefined when this build cannot read the record; `problem` says why. */
  readonly decided:
    | {
        /** By kind name, in the order of the kinds; kinds that are absent are left out. */
        readonly actions: Readonly<Record<string, number>>;
        readonly mentionedNeedCount: number;
        readonly unmetNeedCount: number;
      }
    | undefined;
  readonly problem: string;
  /** Undefined when everything was handed over and every roll-up was taken. */
  readonly heldBack: HeldBackLine | undefined;
}

export interface HeldBackLine {
  /** Actions by what held them back. */
  readonly actions: Readonly<Partial<Record<DispositionCode, number>>>;
  /** Roll-ups that were refused or held since the cycle before. */
  readonly rollups: readonly RefusedRollup[];
  readonly unnamedRollupCount: number;
  /** Why this build cannot read it; then the others are empty. */
  readonly problem: string;
}

export async function* recordLines(
  files: SegmentFiles,
  query: RecordQuery = {},
): AsyncGenerator<RecordLine, void> {
  for await (const record of scanRecords(files, query)) yield lineOf(record);
}

export function describeRecordLine(line: RecordLine): string {
  const where = `cycle ${line.cycle} epoch ${line.epoch} ${utcText(line.atUnixNanos)}`;
  if (line.decided === undefined) return `${where} unreadable: ${line.problem}`;
  const { actions, unmetNeedCount } = line.decided;
  const kinds = Object.entries(actions).map(([kind, count]) => `${kind}=${count}`);
  return [
    where,
    ...(kinds.length === 0 ? ['no actions'] : kinds),
    `unmet=${unmetNeedCount}`,
    ...heldBackWords(line.heldBack),
  ].join(' ');
}

function heldBackWords(heldBack: HeldBackLine | undefined): string[] {
  if (heldBack === undefined) return [];
  const { actions, rollups, unnamedRollupCount, problem } = heldBack;
  if (problem !== '') return [`dispositions unreadable: ${problem}`];
  return [
    ...Object.entries(actions).map(([code, count]) => `${code}=${count}`),
    ...rollups.map(({ cluster, code, count }) => `rollup ${code} cluster=${cluster} x${count}`),
    ...(unnamedRollupCount === 0 ? [] : [`rollups_not_named=${unnamedRollupCount}`]),
  ];
}

function lineOf(stored: StoredRecord): RecordLine {
  const { epoch, cycle, atUnixNanos, actionHash, payload, dispositions } = stored;
  const record = decodeRecord(payload);
  return {
    epoch,
    cycle,
    atUnixNanos,
    actionHash: Buffer.from(actionHash).toString('hex'),
    bytes: payload.length,
    decided: record.ok ? summaryOf(record.value) : undefined,
    problem: record.ok ? '' : record.error.message,
    heldBack: dispositions.length === 0 ? undefined : heldBackOf(dispositions),
  };
}

function heldBackOf(bytes: Uint8Array): HeldBackLine {
  const decoded = decodeDispositions(bytes);
  if (decoded.ok) return heldBackLine(decoded.value);
  return { actions: {}, rollups: [], unnamedRollupCount: 0, problem: decoded.error.message };
}

function heldBackLine({ counts, rollups, unnamedRollupCount }: CycleDispositions): HeldBackLine {
  return { actions: Object.fromEntries(counts), rollups, unnamedRollupCount, problem: '' };
}

function summaryOf({ actions, needs }: DecisionRecord): NonNullable<RecordLine['decided']> {
  const counts = new Map<number, number>();
  for (const { kind } of actions) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const kinds = [...counts].sort(([a], [b]) => a - b);
  return {
    actions: Object.fromEntries(
      kinds.map(([kind, count]) => [actionKindName(kind as ActionKindCode), count]),
    ),
    mentionedNeedCount: needs.length,
    unmetNeedCount: needs.filter(({ isSatisfied }) => !isSatisfied).length,
  };
}

// A stamp as people read it; milliseconds are enough to tell cycles apart.

export function utcText(unixNanos: bigint): string {
  return new Date(Number(unixNanos / 1_000_000n)).toISOString();
}
