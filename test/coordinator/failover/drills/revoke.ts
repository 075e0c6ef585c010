// The lease of a healthy leader is revoked by mistake, under reads and reports: it costs one election
// and no stale answer. The old leader gets no write meanwhile, because its failing would tell it.

import assert from 'node:assert/strict';
import { gateway, outsiderGet } from '../../../etcd/gateway.ts';
import { monotonicMs, sleep } from '../../../toolkit/index.ts';
import type { FailoverStage } from '../stage.ts';

const LEADER_KEY = '/bigfleet/leader';
/** Long enough for a second election to show, if there were one. */
const SETTLED_MS = 2_000;

export interface RevokeSample {
  readonly gapMs: number;
  readonly elections: number;
  readonly heardCount: number;
  readonly unheardCount: number;
}

export async function revokeLeaderLease(stage: FailoverStage): Promise<RevokeSample> {
  const before = await stage.leader();
  await using load = stage.startLoad('revoke');
  await load.servedAfter(monotonicMs(), '');
  stage.beginWindow();
  stage.spareWrites(before.replica.nodeId);
  const { endpoint } = stage.etcd.member(0);
  const key = await outsiderGet(endpoint, LEADER_KEY);
  assert.ok(key !== undefined && key.lease !== '0');
  await gateway(endpoint, 'lease/revoke', { ID: key.lease });
  const revokedAtMs = monotonicMs();
  const served = await load.servedAfter(revokedAtMs, before.replica.nodeId);
  await sleep(SETTLED_MS);
  stage.spareWrites(undefined);
  const heard = await load.finish();
  stage.assertShardsUnaffected();
  const after = await stage.leader();
  stage.assertElected(before, after, served.nodeId);
  const elections = Number(after.term - before.term);
  if (stage.isPatient) assert.equal(elections, 1);
  return { gapMs: Math.round(served.returnedAtMs - revokedAtMs), elections, ...heard };
}
