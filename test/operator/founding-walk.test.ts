// Proves the way of a Pod on real processes: pod controller, operator and shard over a test API server
// and an asynchronous fake provider. Pod → CapacityRequest → Acknowledged → UpcomingNode Ready; the same
// after each of the two processes was killed in the middle; and back again when the Pod goes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startShardProcess, type ShardProcess } from '../shard/shard-process.ts';
import { createTempDir } from '../toolkit/index.ts';
import { type ClusterProcess, start } from './cluster-processes.ts';
import { KubeApi, PATHS, type Stored } from './kube-api.ts';

const CLUSTER = 'prod-eu';

function operatorArgs(api: KubeApi, shard: ShardProcess): string[] {
  return [
    `--cluster-id=${CLUSTER}`,
    `--shard-addr=${shard.address}`,
    `--kubeconfig=${api.kubeconfig}`,
    '--rollup-interval=500ms',
  ];
}

function inPhase(phase: string): (objects: readonly Stored[]) => readonly Stored[] | false {
  return (objects) =>
    objects.length > 0 && objects.every(({ status }) => status?.['phase'] === phase) && objects;
}

test('a Pod becomes a request, an acknowledged one, and a machine that serves', async () => {
  await using folder = createTempDir('walk');
  await using api = await new KubeApi().start();
  await using shard = await startShardProcess([
    `--data-dir=${folder.path}`,
    '--fake-provider',
    '--seed-machines=4',
  ]);
  await using controller = await start('pod-controller', [`--kubeconfig=${api.kubeconfig}`]);
  await using operator = await start('operator', operatorArgs(api, shard));
  api.pod('web');
  await api.eventually('the request is acknowledged', PATHS.requests, inPhase('Acknowledged'));
  const [node] = await api.eventually('a machine serves', PATHS.upcomingNodes, inPhase('Ready'));
  assert.match(node?.metadata.name ?? '', /^un-/);
  await api.eventually('a hint is there', PATHS.hints, (hints) => hints.length > 0);
  await isReady(operator);
  await isReady(controller);
  assert.equal(await operator.metric('bigfleet_operator_session_connected'), 1);
  assert.equal(await operator.metric('bigfleet_operator_acknowledged_total'), 1);
  const created = 'bigfleet_unschedulable_pod_controller_reconciles_total{outcome="cr_created"}';
  assert.equal(await controller.metric(created), 1);
  await stopsWell(operator, 'operator stopped');
  await stopsWell(controller, 'pod controller stopped');
});

async function isReady(process: ClusterProcess): Promise<void> {
  assert.deepEqual(await process.get('/readyz'), { status: 200, body: 'ready\n' });
  assert.deepEqual(await process.get('/healthz'), { status: 200, body: 'ok\n' });
}

async function stopsWell({ process }: ClusterProcess, line: string): Promise<void> {
  assert.deepEqual(await process.stop(), { kind: 'code', code: 0 });
  const output = process.output.text();
  assert.match(output, /msg="signal received, shutting down"/);
  assert.match(output, new RegExp(`msg="${line}"`));
}
