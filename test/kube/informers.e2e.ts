// Caches of the production processes after everything that a network and an API server do to a watch: what an
// operator tells its shard is what a fresh full list says, and every Pod has its request.
//
// Two operators: `steady` speaks to the API server directly, `shaky` and the pod controller through a proxy
// that breaks. The shard has no provider: demand alone is looked at, and nothing else writes to the cluster.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ClusterProcess, start } from '../operator/cluster-processes.ts';
import { type ShardProcess, startShardProcess } from '../shard/shard-process.ts';
import {
  createTempDir,
  eventually,
  type FaultProxy,
  startFaultProxy,
  unixMs,
} from '../toolkit/index.ts';
import type { Json } from './api.ts';
import { skipWithout } from './binaries.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { demandIsWhole, listAll, REQUESTS } from './demand.ts';
import { oneRequestPerPod, Waves } from './pods-and-requests.ts';

const skip = skipWithout('controlPlane');
const NAMESPACE = 'informers';
const WAVE = 24;
const DEFINITION =
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/capacityrequests.bigfleet.lucy.sh';

let plane: ControlPlane;
let proxy: FaultProxy;
let shard: ShardProcess;
let controller: ClusterProcess;
let steady: ClusterProcess;
let shaky: ClusterProcess;
let waves: Waves;
const stack = new AsyncDisposableStack();

before(async () => {
  if (skip !== false) return;
  plane = stack.use(await startControlPlane());
  proxy = stack.use(await startFaultProxy({ targetPort: plane.apiserver.port }));
  const { path: folder } = stack.use(createTempDir('informers'));
  shard = stack.use(await startShardProcess([`--data-dir=${folder}`]));
  const broken = await plane.kubeconfigOf(
    { name: 'shaky', groups: ['system:masters'] },
    `https://127.0.0.1:${proxy.port}`,
  );
  const budget = ['--qps=500', '--burst=1000'];
  controller = stack.use(await start('pod-controller', [`--kubeconfig=${broken}`, ...budget]));
  const operator = (id: string, kubeconfig: string): Promise<ClusterProcess> =>
    start('operator', [
      `--cluster-id=${id}`,
      `--shard-addr=${shard.address}`,
      `--kubeconfig=${kubeconfig}`,
      '--rollup-interval=500ms',
      ...budget,
    ]);
  steady = stack.use(await operator('steady', plane.adminKubeconfig));
  shaky = stack.use(await operator('shaky', broken));
  waves = new Waves(plane, await plane.namespace(NAMESPACE));
  await waves.next(WAVE);
  await allIsWhole();
});

after(() => stack.disposeAsync());

/** Three caches against fresh lists. */
async function allIsWhole(): Promise<void> {
  await oneRequestPerPod(plane, NAMESPACE);
  await demandIsWhole(plane.admin, shard.address, 'steady');
  await demandIsWhole(plane.admin, shard.address, 'shaky');
}

function relists(operator: ClusterProcess, resource: string, reason: string): Promise<number> {
  const labels = `resource="${resource}",reason="${reason}"`;
  return count(operator, `bigfleet_operator_informer_relists_total{${labels}}`);
}

async function count(operator: ClusterProcess, series: string): Promise<number> {
  return (await operator.metric(series)) ?? 0;
}

async function rollupsGoOn(operator: ClusterProcess): Promise<void> {
  const series = 'bigfleet_operator_rollup_last_acked_timestamp_seconds';
  const seen = await count(operator, series);
  await eventually(async () => (await count(operator, series)) > seen, {
    what: 'another roll-up is acknowledged',
  });
}

test('9. Informer survives an API server restart', { skip }, async (t) => {
  plane.explainFailures(t);
  await waves.next(WAVE);
  await plane.restartApiserver();
  await waves.next(WAVE);
  await allIsWhole();
});

test('9. Informer survives etcd compaction (410)', { skip }, async (t) => {
  plane.explainFailures(t);
  const before = await relists(shaky, 'capacityrequests', 'gone');
  proxy.refuse();
  proxy.reset();
  await waves.next(WAVE);
  await plane.compact();
  // Its watch cache could still serve the old versions.
  await plane.restartApiserver();
  await rollupsGoOn(shaky);
  await proxy.accept();
  await allIsWhole();
  assert.ok((await relists(shaky, 'capacityrequests', 'gone')) > before);
});

test('21. A defaulted field is added to a CRD under load', { skip }, async (t) => {
  plane.explainFailures(t);
  const reconnects = await count(steady, 'bigfleet_operator_session_reconnects_total');
  for (const value of ['2', '8', '32']) {
    const load = waves.next(WAVE);
    await defaultPenalty(value);
    await Promise.all([load, rollupsGoOn(steady), rollupsGoOn(shaky)]);
    await eventually(
      async () =>
        (await listAll(plane.admin, REQUESTS)).some(
          ({ spec }) => spec['reclamationPenalty'] === value,
        ),
      { what: `the API server applies the default ${value}` },
    );
    await allIsWhole();
  }
  assert.ok((await relists(steady, 'capacityrequests', 'schema')) >= 3);
  assert.equal(await count(steady, 'bigfleet_operator_session_reconnects_total'), reconnects);
});

interface Definition {
  readonly spec: {
    readonly versions: readonly {
      readonly schema: {
        readonly openAPIV3Schema: {
          readonly properties: {
            readonly spec: { readonly properties: Record<string, Record<string, unknown>> };
          };
        };
      };
    }[];
  };
}

/** What stored objects lack is read with the default from now on, without an event for any of them. */
async function defaultPenalty(value: string): Promise<void> {
  const { admin } = plane;
  const definition = await admin.must(admin.get(DEFINITION));
  const { spec } = definition as unknown as Definition;
  const fields = spec.versions[0]?.schema.openAPIV3Schema.properties.spec.properties;
  const field = fields?.['reclamationPenalty'];
  assert.ok(field !== undefined);
  field['default'] = value;
  await admin.must(admin.ask('PUT', DEFINITION, { body: definition }));
}

test('9. Informer survives dropped TCP (black-holed)', { skip }, async (t) => {
  plane.explainFailures(t);
  proxy.strand();
  await waves.next(WAVE);
  await demandIsWhole(plane.admin, shard.address, 'steady');
  // Stale and complete beats nothing.
  await rollupsGoOn(shaky);
  await shaky.process.waitForLine(/msg="watch failed; trying again".*a watch fell silent/);
  await allIsWhole();
});

test('9. Informer survives 24 h-equivalent idle', { skip }, async (t) => {
  plane.explainFailures(t);
  // No Node has changed since the beginning: bookmarks alone were heard, and none of its watches was cut.
  assert.doesNotMatch(steady.process.output.text(), /fell silent/);
  const series = 'bigfleet_operator_informer_last_event_timestamp_seconds{resource="nodes"}';
  await waves.next(WAVE);
  const quietMs = unixMs();
  await eventually(async () => (await count(steady, series)) * 1_000 > quietMs, {
    what: 'a bookmark of the quiet collection',
  });
  const lists = await relists(steady, 'nodes', 'gone');
  await plane.compact();
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'late' } };
  const heardMs = await count(steady, series);
  await plane.admin.must(plane.admin.create('/api/v1/nodes', body as Json));
  await eventually(async () => (await count(steady, series)) > heardMs, {
    what: 'the first Node after the quiet',
  });
  assert.equal(await relists(steady, 'nodes', 'gone'), lists);
  await allIsWhole();
});
