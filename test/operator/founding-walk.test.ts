// Proves the way of a Pod on real processes: pod controller, operator and shard over a test API server
// and an asynchronous fake provider. Pod → CapacityRequest → Acknowledged → UpcomingNode Ready, and back
// when the Pod goes; the same with each of the two processes killed in the middle.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { type ShardProcess, startShardProcess } from '../shard/shard-process.ts';
import { createTempDir, eventually, http } from '../toolkit/index.ts';
import { type ClusterProcess, start } from './cluster-processes.ts';
import { KubeApi, PATHS, type Stored } from './kube-api.ts';

const CREATED = 'bigfleet_unschedulable_pod_controller_reconciles_total{outcome="cr_created"}';

interface Stage extends AsyncDisposable {
  readonly api: KubeApi;
  readonly shard: ShardProcess;
  readonly folder: string;
  operator(...more: readonly string[]): Promise<ClusterProcess>;
  controller(): Promise<ClusterProcess>;
}

async function stage(): Promise<Stage> {
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(createTempDir('walk'));
  const api = opened.use(await new KubeApi().start());
  const shard = opened.use(
    await startShardProcess([
      `--data-dir=${path.join(folder.path, 'shard')}`,
      '--fake-provider',
      '--seed-machines=4',
    ]),
  );
  const kept = opened.move();
  return {
    api,
    shard,
    folder: folder.path,
    operator: (...more) =>
      start('operator', [
        '--cluster-id=prod-eu',
        `--shard-addr=${shard.address}`,
        `--kubeconfig=${api.kubeconfig}`,
        '--rollup-interval=500ms',
        ...more,
      ]),
    controller: () => start('pod-controller', [`--kubeconfig=${api.kubeconfig}`]),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function inPhase(
  phase: string,
  count: number,
): (objects: readonly Stored[]) => readonly Stored[] | false {
  return (objects) =>
    objects.length === count &&
    objects.every((each) => each.status?.['phase'] === phase) &&
    objects;
}

test('a Pod becomes a request, an acknowledged one, and a machine that serves', async () => {
  await using world = await stage();
  const { api } = world;
  await using controller = await world.controller();
  await using operator = await world.operator();
  const pod = api.pod('web');
  await api.eventually('the request is acknowledged', PATHS.requests, inPhase('Acknowledged', 1));
  const [request] = api.list(PATHS.requests);
  assert.equal(request?.metadata.labels?.['bigfleet.lucy.sh/owned-by-pod'], pod.metadata.uid);
  const [node] = await api.eventually('a machine', PATHS.upcomingNodes, inPhase('Ready', 1));
  assert.match(node?.metadata.name ?? '', /^un-/);
  await api.eventually('a hint is there', PATHS.hints, (hints) => hints.length > 0);
  for (const each of [operator, controller]) {
    assert.deepEqual(await each.get('/readyz'), { status: 200, body: 'ready\n' });
    assert.deepEqual(await each.get('/healthz'), { status: 200, body: 'ok\n' });
    assert.equal((await each.get('/metrics')).status, 200);
  }
  assert.equal(await operator.metric('bigfleet_operator_session_connected'), 1);
  assert.equal(await operator.metric('bigfleet_operator_acknowledged_total'), 1);
  assert.equal(await operator.metric('bigfleet_operator_capacity_requests'), 1);
  assert.equal(await controller.metric(CREATED), 1);
  checkFirstLines(operator, world.shard.address);
  await stopsWell(operator, 'operator stopped');
  await stopsWell(controller, 'pod controller stopped');
});

/** `logs … | head` must show it. */
function checkFirstLines({ process }: ClusterProcess, shard: string): void {
  const lines = process.output.text().split('\n').slice(0, 3);
  const started = lines.find((line) => line.includes('msg="operator started"')) ?? '';
  for (const field of ['component=operator', 'cluster=prod-eu', `shard=${shard}`]) {
    assert.ok(started.includes(field), started);
  }
  assert.match(started, / rollup_interval=0\.5s/);
}

async function stopsWell({ process }: ClusterProcess, line: string): Promise<void> {
  assert.deepEqual(await process.stop(), { kind: 'code', code: 0 });
  const output = process.output.text();
  assert.match(output, /msg="signal received, shutting down"/);
  assert.match(output, new RegExp(`msg="${line}"`));
  assert.doesNotMatch(output, /level=ERROR/);
}

test('both killed in the middle: the next ones go on, and nothing is there twice', async () => {
  await using world = await stage();
  const { api } = world;
  {
    await using controller = await world.controller();
    await using operator = await world.operator();
    for (const name of ['a', 'b', 'c']) api.pod(name);
    await api.eventually('requests', PATHS.requests, (found) => found.length > 0);
    await controller.process.kill();
    await operator.process.kill();
  }
  await using controller = await world.controller();
  await using operator = await world.operator();
  const requests = await api.eventually(
    'all are acknowledged',
    PATHS.requests,
    inPhase('Acknowledged', 3),
  );
  const owners = requests.map(({ metadata }) => metadata.labels?.['bigfleet.lucy.sh/owned-by-pod']);
  const pods = api.list(PATHS.pods).map(({ metadata }) => metadata.uid);
  assert.deepEqual(new Set(owners), new Set(pods));
  await api.eventually('machines serve', PATHS.upcomingNodes, (nodes) =>
    nodes.some(({ status }) => status?.['phase'] === 'Ready'),
  );
  assert.equal(operator.process.exit, undefined);
  assert.equal(controller.process.exit, undefined);
});

test('the template of the owner is what machines get, and an unservable key is a shortfall', async () => {
  await using world = await stage();
  const { api, folder } = world;
  const template = path.join(folder, 'bootstrap.tmpl');
  const text = await readFile(new URL('./bootstrap.tmpl', import.meta.url), 'utf8');
  await writeFile(template, text);
  await using operator = await world.operator(
    `--bootstrap-template-file=${template}`,
    '--bootstrap-allowed-keys=zone, node.kubernetes.io/instance-type',
    '--bootstrap-token',
  );
  await api.eventually('a join token is minted', PATHS.secrets, (secrets) =>
    secrets.some(({ type }) => type === 'bootstrap.kubernetes.io/token'),
  );
  api.request('unservable', { requirements: [{ key: 'fake.bigfleet/pool', operator: 'Exists' }] });
  await eventually(
    async () => {
      const { body } = await http({ url: `http://${world.shard.metricsAddress}/metrics` });
      return /outcomes_total\{kind="Bootstrap",outcome="blob_error"\} [1-9]/.test(body);
    },
    { what: 'the template is refused to the shard' },
  );
  api.ask('DELETE', `${PATHS.requests}/unservable`);
  api.request('servable');
  await api.eventually('the other is served', PATHS.upcomingNodes, (nodes) =>
    nodes.some(({ status }) => status?.['phase'] === 'Ready'),
  );
  assert.equal(operator.process.exit, undefined);
  const phases = api.list(PATHS.upcomingNodes).map(({ status }) => status?.['phase']);
  assert.ok(!phases.includes('Failed'), phases.join());
  assert.doesNotMatch(operator.process.output.text(), /token-secret|join-secret/);
});

test('a shard that restarts is dialled again, and the operator stays ready meanwhile', async () => {
  await using world = await stage();
  const { api } = world;
  await using operator = await world.operator();
  await eventually(
    async () => (await operator.metric('bigfleet_operator_session_connected')) === 1,
    {
      what: 'connected',
    },
  );
  await world.shard.process.kill();
  await operator.process.waitForLine(/msg="session ended, reconnecting" .*backoff=/);
  assert.equal((await operator.get('/readyz')).status, 200);
  await using _again = await startShardProcess([
    `--data-dir=${path.join(world.folder, 'shard')}`,
    `--listen=${world.shard.address}`,
    '--fake-provider',
    '--seed-machines=4',
  ]);
  api.request('late');
  await api.eventually('acknowledged', PATHS.requests, inPhase('Acknowledged', 1));
  const reconnects = await operator.metric('bigfleet_operator_session_reconnects_total');
  assert.ok((reconnects ?? 0) > 0);
});
