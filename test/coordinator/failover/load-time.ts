// How long a new leader took from winning the election to serving: from the time it left in etcd with
// its key to its own log line. Both are of one process and its clock.

import assert from 'node:assert/strict';
import { outsiderGet } from '../../etcd/gateway.ts';
import type { FailoverStage } from './stage.ts';

export async function stateLoadMs(stage: FailoverStage): Promise<number> {
  const { replica, term } = await stage.leader();
  const held = await outsiderGet(stage.etcd.member(0).endpoint, '/bigfleet/leader');
  assert.ok(held !== undefined, 'nobody leads');
  const leader = JSON.parse(held.value) as { acquired_at: string; node_id: string };
  assert.equal(leader.node_id, replica.nodeId, 'the leadership changed meanwhile');
  const won = new RegExp(`time=(\\S+) .*msg="leadership won".* term=${term}\\b`);
  const [, servedAt = ''] = await replica.process.waitForLine(won);
  const tookMs = Date.parse(servedAt) - Date.parse(leader.acquired_at);
  assert.ok(tookMs >= 0, `${leader.acquired_at} to ${servedAt}`);
  return tookMs;
}
