// Explains one machine or one need from one decision record, as rows and as plain sentences.
// Reads what the record says and derives no decision: what is not in the record is not claimed.

import type { DecisionRecord } from '../record/format.ts';
import type { ExplainAnswer, ExplainSubject } from './answer.ts';
import { explainMachine } from './explain-machine.ts';
import { explainNeed } from './explain-need.ts';

export function explain(record: DecisionRecord, subject: ExplainSubject): ExplainAnswer {
  return 'machineId' in subject
    ? explainMachine(record, subject.machineId)
    : explainNeed(record, subject.need);
}
