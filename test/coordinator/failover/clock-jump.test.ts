// Proves that a wall clock that jumps by an hour moves nothing but timestamps: the leader on a real
// etcd stays the leader, in the same term, through more than one lease, and serves all the while.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { startEtcd } from '../../etcd/binaries.ts';
import { createTempDir, eventually, monotonicMs, sleep } from '../../toolkit/index.ts';
import { type CoordinatorProcess, findLeader } from './coordinator-process.ts';
import { planLone } from './lone-coordinator.ts';
import { RegisterLoad, registerValues, VALUES } from './register-load.ts';

/** Renewed every third of it: a leader that a busy machine stalls for seconds keeps it. */
const TTL_MS = 15_000;
const MOST_OF_AN_HOUR_NS = 3_500_000_000_000n;
const PRELOADED = path.join(import.meta.dirname, 'clock-jump-main.ts');

/** When the coordinator says that a report came that comes now. */
async function heartbeatNs({ coordinator }: CoordinatorProcess, cycle: bigint): Promise<bigint> {
  const [shardId = ''] = VALUES;
  await coordinator.reportShard({ shardId, cycle, shardEpoch: 1n });
  const { shards } = await coordinator.listShards({});
  return shards.find((shard) => shard.shardId === shardId)?.lastHeartbeatUnixNs ?? 0n;
}

test('an hour ahead, and the same leader', async () => {
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(createTempDir('clock-jump'));
  const etcd = opened.use(await startEtcd(1));
  const argv = [`--etcd-endpoints=${etcd.endpoints.join()}`, `--leader-lease-ttl=${TTL_MS}ms`];
  const env = { NODE_OPTIONS: `--import=${PRELOADED}` };
  const lone = await planLone({ folder: folder.path, argv, env }, opened);
  await lone.start();
  await lone.waitReady();
  const before = await findLeader([lone]);
  await registerValues(lone);
  await using load = new RegisterLoad({ name: 'clock', replicas: [lone] });
  const beforeNs = await heartbeatNs(lone, 2n);
  lone.process.signal('SIGUSR2');
  const jumpedAtMs = monotonicMs();
  let cycle = 2n;
  await eventually(
    async () => (await heartbeatNs(lone, (cycle += 1n))) > beforeNs + MOST_OF_AN_HOUR_NS,
    { what: 'the clock of the coordinator is ahead' },
  );
  await load.servedAfter(monotonicMs(), '');
  await sleep(Math.max(0, TTL_MS + 1_000 - (monotonicMs() - jumpedAtMs)));
  await load.servedAfter(monotonicMs(), '');
  await eventually(() => load.heardCount > 20, { what: 'answers to judge' });
  const { unheardCount } = await load.finish();
  assert.equal(unheardCount, 0, 'every write was answered');
  assert.equal((await findLeader([lone])).term, before.term);
});
