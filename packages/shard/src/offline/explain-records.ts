// Explains a machine or a need from a records directory: the newest record that decides about it, or
// the one of a cycle; of a machine about which none does, the newest that looked at it. Beside the
// decision it says what held its actions back. What would have helped is tried on the state that the
// trace holds; without the trace nothing is claimed. Reads files only, so it works on a copy and
// beside a running shard.

import {
  counterfactual,
  type CounterfactualAnswer,
  type DecisionRecord,
  decodeDispositions,
  decodeRecord,
  type DispositionNote,
  explain,
  type ExplainAnswer,
  explainDispositions,
  type ExplainSubject,
} from '@bigfleet/engine';
import { readNewestFirst } from '../records/read-records.ts';
import type { SegmentFiles } from '../records/segment-files.ts';
import type { StoredRecord } from '../records/segment-format.ts';
import { utcText } from './record-lines.ts';
import { mentionOf } from './scan-records.ts';
import { stateBeforeCycle } from './state-before-cycle.ts';

export interface ExplainQuestion {
  readonly subject: ExplainSubject;
  /** Of the newest epoch that has it; absent: the newest record that decides about the subject. */
  readonly cycle?: bigint;
  /** Also try what would cover the need. */
  readonly hasCounterfactuals?: boolean;
}

export type ExplainResult =
  | {
      readonly kind: 'answered';
      readonly epoch: bigint;
      readonly cycle: bigint;
      readonly atUnixNanos: bigint;
      readonly answer: ExplainAnswer;
      /** What became of what was decided; empty when all of it was handed over, or none was. */
      readonly dispositions: readonly DispositionNote[];
      /** `no_trace`: the inputs of that cycle are not kept any more. */
      readonly counterfactuals: CounterfactualAnswer | 'no_trace' | undefined;
    }
  | { readonly kind: 'not_found'; readonly text: string };

export async function explainRecords(
  files: SegmentFiles,
  question: ExplainQuestion,
): Promise<ExplainResult> {
  const { subject, cycle } = question;
  let searchedCount = 0;
  let newestSpared: StoredRecord | undefined;
  for await (const stored of readNewestFirst(files, cycleRange(cycle))) {
    searchedCount += 1;
    const mention = cycle === undefined ? mentionOf(stored.payload, subject) : 'explained';
    if (mention === 'spared') newestSpared ??= stored;
    if (mention === 'explained') return answerFrom(files, stored, question);
  }
  if (newestSpared !== undefined) return answerFrom(files, newestSpared, question);
  return { kind: 'not_found', text: missingText(question, searchedCount) };
}

async function answerFrom(
  files: SegmentFiles,
  stored: StoredRecord,
  question: ExplainQuestion,
): Promise<ExplainResult> {
  const { cycle, epoch, atUnixNanos, payload } = stored;
  const record = decodeRecord(payload);
  if (!record.ok) {
    return {
      kind: 'not_found',
      text: `the record of cycle ${cycle} is unreadable: ${record.error.message}`,
    };
  }
  return {
    kind: 'answered',
    epoch,
    cycle,
    atUnixNanos,
    answer: explain(record.value, question.subject),
    dispositions: notesOf(stored, record.value, question.subject),
    counterfactuals: await counterfactualsFor(files, stored, question),
  };
}

function notesOf(
  { dispositions }: StoredRecord,
  record: DecisionRecord,
  subject: ExplainSubject,
): readonly DispositionNote[] {
  if (dispositions.length === 0) return [];
  const decoded = decodeDispositions(dispositions);
  if (decoded.ok) return explainDispositions(record, decoded.value, subject);
  const text = `What became of it is unreadable: ${decoded.error.message}.`;
  return [{ code: '', count: 0, text }];
}

export function describeExplanation(result: ExplainResult): string {
  if (result.kind === 'not_found') return result.text;
  const { cycle, epoch, atUnixNanos, answer, dispositions, counterfactuals } = result;
  return [
    `cycle ${cycle} epoch ${epoch} ${utcText(atUnixNanos)}`,
    answer.text,
    ...dispositions.map(({ text }) => text),
    ...counterfactualLines(counterfactuals),
  ].join('\n');
}

export function counterfactualLines(
  answer: CounterfactualAnswer | 'no_trace' | undefined,
): string[] {
  if (answer === undefined) return [];
  if (answer === 'no_trace') {
    return ['What would have helped is unknown: the trace of that cycle is not kept.'];
  }
  return answer.kind === 'changes' ? answer.changes.map(({ text }) => text) : [answer.text];
}

async function counterfactualsFor(
  files: SegmentFiles,
  stored: StoredRecord,
  { subject, hasCounterfactuals = false }: ExplainQuestion,
): Promise<CounterfactualAnswer | 'no_trace' | undefined> {
  if (!hasCounterfactuals || 'machineId' in subject) return undefined;
  const input = await stateBeforeCycle(files, stored);
  return input === undefined ? 'no_trace' : counterfactual(input, subject.need);
}

function cycleRange(cycle: bigint | undefined): { fromCycle?: bigint; toCycle?: bigint } {
  return cycle === undefined ? {} : { fromCycle: cycle, toCycle: cycle };
}

function missingText({ cycle, subject }: ExplainQuestion, searchedCount: number): string {
  if (cycle !== undefined) return `no record of cycle ${cycle} is kept`;
  const name =
    'machineId' in subject ? `machine ${subject.machineId}` : `a need of ${subject.need.cluster}`;
  return `none of the ${searchedCount} records mentions ${name}`;
}
