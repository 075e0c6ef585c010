// What became of the actions about a machine or for a need, in sentences: the answer to "it was
// decided, so why did nothing happen?". Says what the dispositions of the cycle say, and nothing
// about an action that was handed over: how that ended is in the audit log.

import { reasonEntry, skippedOutcomes } from '@bigfleet/base';
import { ActionKind } from '../model/action.ts';
import type { CycleDispositions, DispositionCode } from '../record/dispositions/format.ts';
import { dispositionAt, unnamedActionCount } from '../record/dispositions/lookup.ts';
import type { DecisionRecord } from '../record/format.ts';
import type { ExplainSubject } from './answer.ts';
import { findNeed } from './find-subject.ts';
import { clause, counted, percent } from './words.ts';

export interface DispositionNote {
  /** Of actions or of roll-ups; empty when the bound left no room to name it. */
  readonly code: string;
  /** Actions, or roll-ups. */
  readonly count: number;
  /** One sentence. */
  readonly text: string;
}

export function explainDispositions(
  record: DecisionRecord,
  dispositions: CycleDispositions,
  subject: ExplainSubject,
): readonly DispositionNote[] {
  return 'machineId' in subject
    ? ofMachine(record, dispositions, subject.machineId)
    : [
        ...ofNeed(record, dispositions, findNeed(record, subject.need)?.index),
        ...ofRollups(dispositions, subject.need.cluster),
      ];
}

function ofMachine(
  record: DecisionRecord,
  dispositions: CycleDispositions,
  machineId: string,
): readonly DispositionNote[] {
  const place = record.actions.findIndex((action) => action.machineId === machineId);
  const code = place < 0 ? undefined : dispositionAt(dispositions, place);
  if (code === undefined) return [];
  if (code === 'unnamed') return [unnamedNote(dispositions)];
  const text = `This was decided, but ${fate(record, dispositions, code, place)}`;
  return [{ code, count: 1, text }];
}

function ofNeed(
  record: DecisionRecord,
  dispositions: CycleDispositions,
  need: number | undefined,
): readonly DispositionNote[] {
  if (need === undefined) return [];
  const places = [...record.actions.keys()].filter((place) => record.actions[place]?.need === need);
  const found = new Map<DispositionCode | 'unnamed', number[]>();
  for (const place of places) {
    const code = dispositionAt(dispositions, place);
    if (code !== undefined) found.set(code, [...(found.get(code) ?? []), place]);
  }
  return [...found].map(([code, held]) => {
    if (code === 'unnamed') return unnamedNote(dispositions);
    const { length: count } = held;
    const why = fate(record, dispositions, code, held[0]!);
    const text = `Of ${counted(places.length, 'action')} for it ${count} ${wereOf(count)} ${why}`;
    return { code, count, text };
  });
}

function ofRollups(dispositions: CycleDispositions, cluster: string): readonly DispositionNote[] {
  return dispositions.rollups
    .filter((row) => row.cluster === cluster)
    .map(({ code, count, detail }) => ({ code, count, text: rollupSentence(code, count, detail) }));
}

function rollupSentence(code: string, count: number, detail: string): string {
  const entry = reasonEntry('rollup_refusal', code);
  const meaning = entry === undefined ? '' : `: ${clause(entry.meaning)}`;
  const what = code === 'rollup_quarantined' ? 'held' : 'refused';
  return (
    `Before this cycle ${counted(count, 'roll-up')} of the cluster ` +
    `${wereOf(count)} ${what} (${code})${meaning} (${detail}). ` +
    'Its last accepted demand stays.'
  );
}

function wereOf(count: number): string {
  return count === 1 ? 'was' : 'were';
}

function unnamedNote(dispositions: CycleDispositions): DispositionNote {
  const count = unnamedActionCount(dispositions);
  const text =
    `This cycle held back more actions than its record names; ${count} are not named, ` +
    'and this may be among them.';
  return { code: '', count, text };
}

const AGAIN = 'it is decided again in the next cycle';

/** As the end of a sentence: `held back (code): why.` */
function fate(
  record: DecisionRecord,
  dispositions: CycleDispositions,
  code: DispositionCode,
  place: number,
): string {
  switch (code) {
    case 'deferred_reclaim_cap':
      return `held back (${code}): ${capWords(record, dispositions, place)}; ${AGAIN}.`;
    case 'deferred_max_actions':
      return (
        `held back (${code}): at most ${dispositions.maxActionsPerCycle} actions per cycle; ` +
        'it is decided again in a cycle that follows at once.'
      );
    case 'deduped_pending':
      return `not sent again (${code}): an action for the machine is already queued or under way.`;
    case 'deduped_state':
      return (
        `not sent (${code}): between decision and execution the machine had moved on, was gone or ` +
        'was no longer ours to act on; the next cycle decides from what it is by then.'
      );
    case 'dropped_queue_full':
      return `dropped (${code}): the queue of actions was full; ${AGAIN}.`;
    case 'provider_unreachable':
      return `not sent (${code}): the provider of the machine does not answer; ${AGAIN}.`;
    case 'suppressed':
    case 'dryrun':
      return `not carried out (${code}): ${clause(skippedOutcomes[code].meaning)}.`;
  }
}

/** The cap as a number is what rail 1 let through of the cluster, when the record names it all. */
function capWords(
  { actions }: DecisionRecord,
  dispositions: CycleDispositions,
  place: number,
): string {
  const cluster = actions[place]?.cluster ?? '';
  const share = `${percent(dispositions.reclaimCapFraction)} of its machines`;
  if (unnamedActionCount(dispositions) > 0) {
    return `at most ${share} are reclaimed from cluster ${cluster} per cycle`;
  }
  const passed = actions.filter(
    (action, at) =>
      action.kind === ActionKind.Reclaim &&
      action.cluster === cluster &&
      dispositionAt(dispositions, at) !== 'deferred_reclaim_cap',
  ).length;
  return `at most ${counted(passed, 'reclaim')} of cluster ${cluster} per cycle (${share})`;
}
