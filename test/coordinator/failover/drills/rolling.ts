// All three replicas restarted one after the other, as a rolling update does, under reports: every
// shard is answered again, and how long it was not is on record.

import assert from 'node:assert/strict';
import { noteGoal, type Notes } from '../repeated.ts';
import { REPORT_EVERY_MS } from '../reporting-shard.ts';
import type { FailoverStage } from '../stage.ts';

/** A report that meets the hand-over fails; the next one, an interval later, does not. */
const GOAL_UNANSWERED = 1;
/** Two intervals (coordinator §11.3), and half of one in which the test looks. */
const GOAL_REPORT_GAP_MS = 2.5 * REPORT_EVERY_MS;

export interface RollingSample {
  readonly longestUnanswered: readonly number[];
  readonly longestUnansweredMs: readonly number[];
  readonly terms: number;
}

export async function restartAll(stage: FailoverStage): Promise<RollingSample> {
  const before = await stage.leader();
  await using load = stage.startLoad('rolling');
  stage.beginWindow();
  for (const replica of stage.replicas.toReversed()) {
    replica.process.signal('SIGTERM');
    assert.deepEqual(await replica.waitExit(), { kind: 'code', code: 0 });
    await replica.start();
    await replica.waitReady();
  }
  await load.finish();
  const windows = stage.watches.map((watch) => watch.window());
  stage.assertShardsUnaffected();
  await stage.untilReportsAnswered();
  return {
    longestUnanswered: windows.map((window) => window.longestUnanswered),
    longestUnansweredMs: windows.map((window) => window.longestUnansweredMs),
    terms: Number((await stage.leader()).term - before.term),
  };
}

export function noteReportGaps(notes: Notes, samples: readonly RollingSample[]): void {
  noteGoal(notes, {
    what: 'reports in a row without an answer',
    measured: samples.flatMap((sample) => sample.longestUnanswered),
    atMost: GOAL_UNANSWERED,
  });
  noteGoal(notes, {
    what: 'time without an answered report in ms',
    measured: samples.flatMap((sample) => sample.longestUnansweredMs),
    atMost: GOAL_REPORT_GAP_MS,
  });
}
