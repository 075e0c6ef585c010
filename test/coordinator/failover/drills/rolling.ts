// All three replicas restarted one after the other, as a rolling update does, under reports: every
// shard is answered again, and how long it was not is on record.

import assert from 'node:assert/strict';
import { REPORT_EVERY_MS } from '../reporting-shard.ts';
import type { FailoverStage } from '../stage.ts';

/** A report that meets the hand-over fails; the next one, an interval later, does not. */
const MAX_UNANSWERED = 1;
/** Two intervals, and half of one for a busy machine. */
const MAX_REPORT_GAP_MS = 2.5 * REPORT_EVERY_MS;

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
  for (const window of windows) assert.ok(window.answeredCount > 0);
  return {
    longestUnanswered: windows.map((window) => window.longestUnanswered),
    longestUnansweredMs: windows.map((window) => window.longestUnansweredMs),
    terms: Number((await stage.leader()).term - before.term),
  };
}

/** No shard goes without an answered report for more than two intervals. */
export function assertReportGaps(samples: readonly RollingSample[]): void {
  for (const sample of samples) {
    const text = JSON.stringify(sample);
    assert.ok(
      sample.longestUnanswered.every((count) => count <= MAX_UNANSWERED),
      text,
    );
    assert.ok(
      sample.longestUnansweredMs.every((gapMs) => gapMs <= MAX_REPORT_GAP_MS),
      text,
    );
  }
}
