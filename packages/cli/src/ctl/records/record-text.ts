// A decision record as lines, one per decision: each action with its reason and what held it back,
// each need that stayed short, each roll-up that was refused. Codes are what the record says;
// nothing is derived anew. On the wire the dispositions of a cycle come in a frame of their own, before
// the record they belong to.

import {
  actionKindName,
  type CycleDispositions,
  decodeDispositions,
  decodeRecord,
  type DecisionRecord,
  dispositionAt,
  explain,
  isDispositions,
  type RecordedAction,
  type RefusedRollup,
} from '@bigfleet/engine';
import type { RecordFrame } from '@bigfleet/wire';
import { shortNeed } from '../kinds/need-name.ts';
import { cleanText, dollarsText, utcTime } from '../output/text.ts';

/**
 * Takes the frames of one shard, and holds one of them. `onRecord` is called for every record, with what
 * the shard sent of its dispositions; empty without.
 */
export function recordFrames(
  onRecord: (frame: RecordFrame, dispositions: Uint8Array) => void,
): (frame: RecordFrame) => void {
  let held: RecordFrame | undefined;
  return (frame) => {
    const before = held;
    held = isDispositions(frame.payload) ? frame : undefined;
    if (held !== undefined) return;
    const isItsOwn = before?.cycle === frame.cycle && before.shardEpoch === frame.shardEpoch;
    onRecord(frame, isItsOwn ? before.payload : new Uint8Array(0));
  };
}

interface DocumentAction extends RecordedAction {
  /** What held it back; absent when it was handed over, `unnamed` when the record cannot say. */
  readonly disposition?: ReturnType<typeof dispositionAt>;
}

export interface RecordDocument {
  readonly shard: string;
  readonly epoch: bigint;
  readonly cycle: bigint;
  readonly at: string | null;
  readonly actionHash: string;
  /** Why this build cannot read the record. */
  readonly problem?: string | undefined;
  readonly record: (DecisionRecord & { readonly actions: readonly DocumentAction[] }) | undefined;
  /** Undefined when nothing was held back and no roll-up refused. */
  readonly heldBack: HeldBackDocument | undefined;
}

type HeldBackDocument = Omit<CycleDispositions, 'cycle' | 'runs'> | { readonly problem: string };

export function recordDocument(
  shard: string,
  frame: RecordFrame,
  dispositions: Uint8Array,
): RecordDocument {
  const record = decodeRecord(frame.payload);
  const held = dispositions.length === 0 ? undefined : decodeDispositions(dispositions);
  const known = held?.ok === true ? held.value : undefined;
  return {
    shard,
    epoch: frame.shardEpoch,
    cycle: frame.cycle,
    at: utcTime(frame.atUnixNanos) ?? null,
    actionHash: Buffer.from(frame.actionHash).toString('hex'),
    problem: record.ok ? undefined : record.error.message,
    record: record.ok ? withDispositions(record.value, known) : undefined,
    heldBack: held === undefined ? undefined : heldBackDocument(held),
  };
}

function heldBackDocument(held: ReturnType<typeof decodeDispositions>): HeldBackDocument {
  if (!held.ok) return { problem: held.error.message };
  const { cycle: _, runs: __, ...rest } = held.value;
  return rest;
}

function withDispositions(
  record: DecisionRecord,
  dispositions: CycleDispositions | undefined,
): NonNullable<RecordDocument['record']> {
  if (dispositions === undefined) return record;
  const actions = record.actions.map((action, place) => {
    const disposition = dispositionAt(dispositions, place);
    return disposition === undefined ? action : { ...action, disposition };
  });
  return { ...record, actions };
}

export function recordLines(document: RecordDocument): string[] {
  const { shard, cycle, at, problem, record, heldBack } = document;
  const where = `${at ?? ''} ${shard} ${cycle}`;
  // Silence would look like a cycle that never ran.
  if (record === undefined) return [`${where} unreadable: ${problem ?? ''}`];
  return [
    ...record.actions.map((action) => actionLine(record, action)),
    ...unmetLines(record),
    ...(heldBack === undefined ? [] : heldBackLines(heldBack)),
  ].map((line) => `${where} ${cleanText(line)}`);
}

function actionLine(record: DecisionRecord, action: DocumentAction): string {
  const { kind, machineId, cluster, need, shape, disposition } = action;
  const why = explain(record, { machineId });
  const served = record.needs[need];
  return [
    actionKindName(kind),
    machineId,
    ...(cluster === '' ? [] : [`cluster=${cluster}`]),
    ...(served === undefined ? [] : [`need=${shortNeed(served.fingerprint, served.group)}`]),
    `${dollarsText(shape.pricePerHour)}/h`,
    ...(why.kind === 'explained' ? [why.reasonCode] : []),
    ...(disposition === undefined ? [] : [`disposition=${disposition}`]),
  ].join(' ');
}

function unmetLines({ needs }: DecisionRecord): string[] {
  return needs
    .filter(({ isSatisfied }) => !isSatisfied)
    .map(({ cluster, fingerprint, group, reasonCode }) => {
      const need = shortNeed(fingerprint, group);
      return `Unmet cluster=${cluster} need=${need} ${reasonCode}`;
    });
}

function heldBackLines(heldBack: HeldBackDocument): string[] {
  if ('problem' in heldBack) return [`dispositions unreadable: ${heldBack.problem}`];
  const { rollups, unnamedRollupCount } = heldBack;
  return [
    ...rollups.map(rollupLine),
    ...(unnamedRollupCount === 0 ? [] : [`Rollup ${unnamedRollupCount} more, not named`]),
  ];
}

function rollupLine({ cluster, code, count, detail }: RefusedRollup): string {
  return `Rollup cluster=${cluster} ${code} count=${count}: ${detail}`;
}
