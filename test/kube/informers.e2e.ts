// Caches of the production processes after everything that a network and an API server do to a watch: what an
// operator tells its shard is what a fresh full list says, and every Pod has its request.
//
// The world's processes speak to the API server through proxies that break; a second operator, `steady`, does
// not. The fleet is empty: demand alone is looked at, and nothing else writes to the cluster.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ClusterProcess, start } from '../operator/cluster-processes.ts';
import { eventually, unixMs } from '../toolkit/index.ts';
import { skipWithout } from './binaries.ts';
import { demandIsWhole, listAll, REQUESTS } from './demand.ts';
import { oneRequestPerPod, Waves } from './pods-and-requests.ts';
import { startWorld, type World } from './world/world.ts';

const skip = skipWithout('controlPlane', 'helm');
const NAMESPACE = 'informers';
const WAVE = 24;
const DEFINITION =
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/capacityrequests.bigfleet.lucy.sh';

let world: World;
let steady: ClusterProcess;
let waves: Waves;
const stack = new AsyncDisposableStack();

before(async () => {
  if (skip !== false) return;
  const budget = ['--qps=500', '--burst=1000'];
  world = stack.use(
    await startWorld({
      clusterId: 'shaky',
      offers: [],
      operatorArgs: budget,
      podControllerArgs: budget,
    }),
  );
  steady = stack.use(
    await start('operator', [
      '--cluster-id=steady',
      `--shard-addr=${world.shardAddress}`,
      `--kubeconfig=${world.plane.adminKubeconfig}`,
      // Its session may not end: three intervals without an answer would end it.
      '--rollup-interval=10s',
      ...budget,
    ]),
  );
  waves = new Waves(world.plane, await world.plane.namespace(NAMESPACE));
  await waves.next(WAVE);
  await allIsWhole();
});

after(() => stack.disposeAsync());

/** Three caches against fresh lists. */
async function allIsWhole(): Promise<void> {
  const { plane, shardAddress } = world;
  await oneRequestPerPod(plane, NAMESPACE);
  await demandIsWhole(plane.admin, shardAddress, 'steady');
  await demandIsWhole(plane.admin, shardAddress, 'shaky');
}

interface Measured {
  metric(series: string): Promise<number | undefined>;
}

async function count(operator: Measured, series: string): Promise<number> {
  return (await operator.metric(series)) ?? 0;
}

function relists(operator: Measured, resource: string, reason: string): Promise<number> {
  const labels = `resource="${resource}",reason="${reason}"`;
  return count(operator, `bigfleet_operator_informer_relists_total{${labels}}`);
}

async function rollupsGoOn(operator: Measured): Promise<void> {
  const series = 'bigfleet_operator_rollup_last_acked_timestamp_seconds';
  const seen = await count(operator, series);
  await eventually(async () => (await count(operator, series)) > seen, {
    what: 'another roll-up is acknowledged',
  });
}

test('9. Informer survives an API server restart', { skip }, async (t) => {
  world.explainFailures(t);
  await waves.next(WAVE);
  await world.plane.restartApiserver();
  await waves.next(WAVE);
  await allIsWhole();
});

test('9. Informer survives etcd compaction (410)', { skip }, async (t) => {
  world.explainFailures(t);
  const before = await relists(world.operator, 'capacityrequests', 'gone');
  const proxies = Object.values(world.proxies);
  for (const proxy of proxies) {
    proxy.refuse();
    proxy.reset();
  }
  await waves.next(WAVE);
  await world.plane.compact();
  // Its watch cache could still serve the old versions.
  await world.plane.restartApiserver();
  await rollupsGoOn(world.operator);
  for (const proxy of proxies) await proxy.accept();
  await allIsWhole();
  assert.ok((await relists(world.operator, 'capacityrequests', 'gone')) > before);
});

test('21. A defaulted field is added to a CRD under load', { skip }, async (t) => {
  world.explainFailures(t);
  const reconnects = await count(steady, 'bigfleet_operator_session_reconnects_total');
  for (const value of ['2', '8']) {
    const load = waves.next(WAVE);
    await defaultPenalty(value);
    await Promise.all([load, rollupsGoOn(steady), rollupsGoOn(world.operator)]);
    await eventually(
      async () =>
        (await listAll(world.plane.admin, REQUESTS)).some(
          ({ spec }) => spec['reclamationPenalty'] === value,
        ),
      { what: `the API server applies the default ${value}` },
    );
    await allIsWhole();
  }
  assert.ok((await relists(steady, 'capacityrequests', 'schema')) >= 2);
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
  const { admin } = world.plane;
  const definition = await admin.must(admin.get(DEFINITION));
  const { spec } = definition as unknown as Definition;
  const fields = spec.versions[0]?.schema.openAPIV3Schema.properties.spec.properties;
  const field = fields?.['reclamationPenalty'];
  assert.ok(field !== undefined);
  field['default'] = value;
  await admin.must(admin.ask('PUT', DEFINITION, { body: definition }));
}

test('9. Informer survives dropped TCP (black-holed)', { skip }, async (t) => {
  world.explainFailures(t);
  for (const proxy of Object.values(world.proxies)) proxy.strand();
  await waves.next(WAVE);
  await demandIsWhole(world.plane.admin, world.shardAddress, 'steady');
  // Stale and complete beats nothing.
  await rollupsGoOn(world.operator);
  await allIsWhole();
});

test('9. Informer survives 24 h-equivalent idle', { skip }, async (t) => {
  world.explainFailures(t);
  const series = 'bigfleet_operator_informer_last_event_timestamp_seconds{resource="nodes"}';
  await waves.next(WAVE);
  const quietMs = unixMs();
  await eventually(async () => (await count(steady, series)) * 1_000 > quietMs, {
    what: 'a bookmark of the quiet collection',
  });
  const lists = await relists(steady, 'nodes', 'gone');
  await world.plane.compact();
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'late' } };
  const heardMs = await count(steady, series);
  await world.plane.admin.must(world.plane.admin.create('/api/v1/nodes', body));
  await eventually(async () => (await count(steady, series)) > heardMs, {
    what: 'the first Node after the quiet',
  });
  assert.equal(await relists(steady, 'nodes', 'gone'), lists);
  await allIsWhole();
});
