// SIGKILL of the leader, again and again: how long until another serves a write, and whether
// anything went wrong meanwhile.

import assert from 'node:assert/strict';
import { monotonicMs } from '../../../toolkit/index.ts';
import { type FailoverStage, TTL_MS } from '../stage.ts';

/** Beyond the time of a lease nobody waits. */
const MAX_GAP_MS = TTL_MS + 1_000;
/** What at most one kill of a run may exceed. */
const USUAL_GAP_MS = 1_500;

export interface KillSample {
  readonly killed: string;
  readonly gapMs: number;
  readonly term: number;
  readonly heardCount: number;
  readonly unheardCount: number;
}

/** Kills the leader once and brings it back; every law is checked but how long the gap was. */
export async function killLeader(stage: FailoverStage): Promise<KillSample> {
  const before = await stage.leader();
  const { nodeId } = before.replica;
  await using load = stage.startLoad('kill');
  await load.servedAfter(monotonicMs(), '');
  stage.beginWindow();
  const killedAtMs = monotonicMs();
  before.replica.process.signal('SIGKILL');
  const served = await load.servedAfter(killedAtMs, nodeId);
  await before.replica.waitExit();
  await before.replica.start();
  await before.replica.waitReady();
  const heard = await load.finish();
  stage.assertShardsUnaffected();
  const after = await stage.leader();
  assert.ok(after.term > before.term, `term ${after.term} after ${before.term}`);
  assert.equal(after.replica.nodeId, served.nodeId, 'one election, and another replica');
  return { killed: nodeId, gapMs: gap(killedAtMs, served), term: Number(after.term), ...heard };
}

function gap(sinceMs: number, { returnedAtMs }: { readonly returnedAtMs: number }): number {
  return Math.round(returnedAtMs - sinceMs);
}

/** At most one above the usual, none above TTL + 1 s. */
export function assertKillGaps(samples: readonly KillSample[]): void {
  const gaps = samples.map(({ gapMs }) => gapMs);
  const text = `gaps in ms: ${gaps.join(', ')}`;
  assert.ok(gaps.filter((gapMs) => gapMs > USUAL_GAP_MS).length <= 1, text);
  assert.ok(
    gaps.every((gapMs) => gapMs <= MAX_GAP_MS),
    text,
  );
}
