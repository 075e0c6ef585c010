// SIGTERM of the leader: it resigns, so that the next one need not wait for anything.

import assert from 'node:assert/strict';
import { monotonicMs } from '../../../toolkit/index.ts';
import type { FailoverStage } from '../stage.ts';

const MAX_GAP_MS = 500;

export interface HandOverSample {
  readonly stopped: string;
  readonly gapMs: number;
  readonly term: number;
}

/** Stops the leader once and starts it again; every law is checked but the length of the gap. */
export async function stopLeader(stage: FailoverStage): Promise<HandOverSample> {
  const before = await stage.leader();
  const { nodeId } = before.replica;
  await using load = stage.startLoad('hand-over');
  await load.servedAfter(monotonicMs(), '');
  stage.beginWindow();
  const sinceMs = monotonicMs();
  before.replica.process.signal('SIGTERM');
  const served = await load.servedAfter(sinceMs, nodeId);
  assert.deepEqual(await before.replica.waitExit(), { kind: 'code', code: 0 });
  await before.replica.start();
  await before.replica.waitReady();
  await load.finish();
  stage.assertShardsUnaffected();
  const after = await stage.leader();
  assert.ok(after.term > before.term, `term ${after.term} after ${before.term}`);
  const gapMs = Math.round(served.returnedAtMs - sinceMs);
  return { stopped: nodeId, gapMs, term: Number(after.term) };
}

export function assertHandOverGaps(samples: readonly HandOverSample[]): void {
  for (const { gapMs } of samples) {
    assert.ok(gapMs < MAX_GAP_MS, `handed over after ${gapMs} ms`);
  }
}
