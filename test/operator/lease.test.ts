// Proves that two operators with one cluster id and the Lease on do not fight over the shard: one dials,
// the other waits, ready, and dials when the first is gone, whether it said goodbye or not.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { startShardProcess } from '../shard/shard-process.ts';
import { createTempDir, eventually } from '../toolkit/index.ts';
import { type ClusterProcess, start } from './cluster-processes.ts';
import { KubeApi, PATHS } from './kube-api.ts';

const CONNECTED = 'bigfleet_operator_session_connected';
const RECONNECTS = 'bigfleet_operator_session_reconnects_total';
const ACQUIRED = /msg="lease acquired"/;
/** Longer than a busy machine keeps a process from its renewal. */
const LEASE = '--lease-duration=12s';

test('one operator holds the session at a time', async () => {
  await using folder = createTempDir('lease');
  await using api = await new KubeApi().start();
  await using shard = await startShardProcess([
    `--data-dir=${path.join(folder.path, 'shard')}`,
    '--fake-provider',
  ]);
  const operator = (): Promise<ClusterProcess> =>
    start('operator', [
      '--cluster-id=prod-eu',
      `--shard-addr=${shard.address}`,
      `--kubeconfig=${api.kubeconfig}`,
      '--rollup-interval=500ms',
      '--leader-elect',
      LEASE,
    ]);
  await using first = await operator();
  await isConnected(first);
  await using second = await operator();
  await second.process.waitForLine(/msg="lease held by another operator; waiting" .*holder=/);
  assert.equal((await second.get('/readyz')).status, 200, 'readiness does not depend on it');
  assert.equal(await second.metric(CONNECTED), 0);
  assert.equal(await first.metric(RECONNECTS), 0);

  assert.deepEqual(await first.process.stop(), { kind: 'code', code: 0 });
  await second.process.waitForLine(ACQUIRED);
  await isConnected(second);

  await using third = await operator();
  await third.process.waitForLine(/msg="lease held by another operator; waiting"/);
  await second.process.kill();
  await third.process.waitForLine(ACQUIRED);
  await isConnected(third);
  api.request('late');
  await api.eventually(
    'the last one serves',
    PATHS.requests,
    ([request]) => request?.status?.['phase'] === 'Acknowledged',
  );
  const [lease] = api.list(PATHS.leases);
  assert.equal(lease?.metadata.name, 'bigfleet-operator');
  assert.equal(lease?.spec['leaseTransitions'], 2);
});

function isConnected(operator: ClusterProcess): Promise<true> {
  return eventually(async () => (await operator.metric(CONNECTED)) === 1, {
    what: 'connected',
    details: () => operator.process.output.text(),
  });
}
