// A decision record as lines, one per decision: each action with its reason, each need that stayed
// short. Codes are what the record says; nothing is derived anew.

import { actionKindName, decodeRecord, type DecisionRecord, explain } from '@bigfleet/engine';
import type { RecordFrame } from '@bigfleet/wire';
import { shortNeed } from '../listings/need-name.ts';
import { cleanText } from '../output/clean-text.ts';
import { dollarsText, utcTime } from '../output/texts.ts';

export interface RecordDocument {
  readonly shard: string;
  readonly epoch: bigint;
  readonly cycle: bigint;
  readonly at: string | null;
  readonly actionHash: string;
  /** Why this build cannot read it; then there is no record. */
  readonly problem?: string;
  readonly record?: DecisionRecord;
}

export function recordDocument(shard: string, frame: RecordFrame): RecordDocument {
  const record = decodeRecord(frame.payload);
  return {
    shard,
    epoch: frame.shardEpoch,
    cycle: frame.cycle,
    at: utcTime(frame.atUnixNanos) ?? null,
    actionHash: Buffer.from(frame.actionHash).toString('hex'),
    ...(record.ok ? { record: record.value } : { problem: record.error.message }),
  };
}

export function recordLines({ shard, cycle, at, problem, record }: RecordDocument): string[] {
  const where = `${at ?? ''} ${shard} ${cycle}`;
  // Silence would look like a cycle that never ran.
  if (record === undefined) return [`${where} unreadable: ${problem ?? ''}`];
  const actions = record.actions.map(({ kind, machineId, cluster, need, shape }) => {
    const why = explain(record, { machineId });
    const served = record.needs[need];
    const parts = [
      actionKindName(kind),
      machineId,
      ...(cluster === '' ? [] : [`cluster=${cluster}`]),
      ...(served === undefined ? [] : [`need=${shortNeed(served.fingerprint, served.group)}`]),
      `${dollarsText(shape.pricePerHour)}/h`,
      ...(why.kind === 'explained' ? [why.reasonCode] : []),
    ];
    return `${where} ${cleanText(parts.join(' '))}`;
  });
  const unmet = record.needs
    .filter(({ isSatisfied }) => !isSatisfied)
    .map(({ cluster, fingerprint, group, reasonCode }) => {
      const need = shortNeed(fingerprint, group);
      return `${where} ${cleanText(`Unmet cluster=${cluster} need=${need} ${reasonCode}`)}`;
    });
  return [...actions, ...unmet];
}
