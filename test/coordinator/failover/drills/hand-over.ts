// SIGTERM of the leader: it resigns, so that the next one need not wait for anything.

import assert from 'node:assert/strict';
import { outsiderGet } from '../../../etcd/gateway.ts';
import { monotonicMs } from '../../../toolkit/index.ts';
import type { CoordinatorProcess } from '../coordinator-process.ts';
import { noteGoal, type Notes } from '../repeated.ts';
import type { FailoverStage } from '../stage.ts';

/** Coordinator §11.1. */
const GOAL_GAP_MS = 500;
const LEADER_KEY = '/bigfleet/leader';

export interface HandOverSample {
  readonly stopped: string;
  readonly gapMs: number;
  readonly term: number;
}

/** Stops the leader once and starts it again. */
export async function stopLeader(stage: FailoverStage): Promise<HandOverSample> {
  const before = await stage.leader();
  const { nodeId } = before.replica;
  await using load = stage.startLoad('hand-over');
  await load.servedAfter(monotonicMs(), '');
  stage.beginWindow();
  const sinceMs = monotonicMs();
  before.replica.process.signal('SIGTERM');
  const serving = load.servedAfter(sinceMs, nodeId);
  serving.catch(() => {}); // awaited below; the drill may fail earlier
  assert.deepEqual(await before.replica.waitExit(), { kind: 'code', code: 0 });
  // Before another serves: by then the lease of one that did not resign may have ended by itself.
  await assertResigned(stage, before.replica);
  const served = await serving;
  await before.replica.start();
  await before.replica.waitReady();
  await load.finish();
  stage.assertShardsUnaffected();
  const after = await stage.leader();
  stage.assertElected(before, after, served.nodeId);
  const gapMs = Math.round(served.returnedAtMs - sinceMs);
  return { stopped: nodeId, gapMs, term: Number(after.term) };
}

/** Who ended leaves no key to wait for, or says that etcd did not take it. */
async function assertResigned(stage: FailoverStage, ended: CoordinatorProcess): Promise<void> {
  const held = await outsiderGet(stage.etcd.member(0).endpoint, LEADER_KEY);
  if (held === undefined || ended.outputText().includes('etcd: resign failed')) return;
  const { node_id: holder } = JSON.parse(held.value) as { readonly node_id: string };
  assert.notEqual(holder, ended.nodeId, 'it ended without resigning');
}

export function noteHandOverGaps(notes: Notes, samples: readonly HandOverSample[]): void {
  const measured = samples.map(({ gapMs }) => gapMs);
  noteGoal(notes, { what: 'gap after SIGTERM in ms', measured, atMost: GOAL_GAP_MS });
}
