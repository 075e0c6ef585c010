// BigFleet as its owner installs and upgrades it (kubernetes §7.2, behaviours 14 and 17; coordinator §7.5 and
// §11.3): the five steps of the operator guide as printed, onto a node that runs the real images, and then
// `helm upgrade` to another build while Pods keep coming.

import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { MachineState } from '@bigfleet/wire';
import { machinesOf } from '../shard/query.ts';
import { eventually, http } from '../toolkit/index.ts';
import { skipWithout } from './binaries.ts';
import { installSteps, registration } from './charts/guide.ts';
import { listAll, type Stored } from './demand.ts';
import { Installation } from './installed/installation.ts';
import { UpgradeWatch } from './installed/upgrade-watch.ts';
import { oneRequestPerPod, pod, podsPath, requestsPath } from './pods-and-requests.ts';
import { described } from './session-view.ts';

const NAMESPACE = 'bigfleet-system';
const IMAGES = ['bigfleet', 'bigfleet-operator', 'bigfleet-unschedulable-pod-controller'];
/** The tag is the charts' own: what an owner gets who names none. */
const FIRST = { images: IMAGES, tag: 'v0.1.0', revision: 'first' };
const NEXT = { images: IMAGES, tag: 'next', revision: 'next' };
const COORDINATORS = [0, 1, 2].map((ordinal) => `bigfleet-coordinator-${ordinal}`);
const SHARD = 'bigfleet-shard-0';
const WORKLOADS = {
  coordinator: 'statefulset/bigfleet-coordinator',
  shard: 'statefulset/bigfleet-shard',
  operator: 'deployment/bigfleet-operator',
  controller: 'deployment/bigfleet-unschedulable-pod-controller',
};
const METRICS_PORTS = [
  [/^bigfleet-coordinator-/, 8790],
  [/^bigfleet-shard-/, 8780],
  [/^bigfleet-operator-/, 8770],
  [/^bigfleet-unschedulable-pod-controller-/, 8080],
] as const;
/** All of a machine, because demand is a sum; the node of BigFleet's own Pods has less. */
const CPU_MILLIS = 4_000;

const missing = skipWithout('controlPlane', 'helm');
const begun =
  missing === false
    ? await Installation.begin({
        builds: [FIRST, NEXT],
        offers: [{ instanceType: 'std-4', zone: 'a', count: 20 }],
      })
    : { ok: false as const, reason: missing };
const skip = begun.ok ? false : begun.reason;
after(async () => {
  if (begun.ok) await begun.cluster[Symbol.asyncDispose]();
});

function theCluster(t: TestContext): Installation {
  if (!begun.ok) throw new Error(begun.reason);
  begun.cluster.plane.explainFailures(t, () => begun.cluster.node.tails());
  return begun.cluster;
}

async function rolledOut({ shell }: Installation, ...workloads: string[]): Promise<void> {
  for (const one of workloads) {
    await shell.run(`kubectl --namespace ${NAMESPACE} rollout status ${one} --timeout=110s`);
  }
}

/** So many Pods run in the namespace, none of them on the node of BigFleet's own. */
async function podsRun(
  { plane, kubelets }: Installation,
  namespace: string,
  count: number,
): Promise<void> {
  let seen: readonly Stored[] = [];
  await eventually(
    async () => {
      seen = await listAll(plane.admin, podsPath(namespace));
      return seen.filter(({ status }) => status?.['phase'] === 'Running').length === count;
    },
    { what: `${count} Pods run in ${namespace}`, everyMs: 250, details: () => described(seen) },
  );
  const fleet = new Set(kubelets.kubelets.nodeNames);
  for (const { metadata, spec } of seen) {
    assert.ok(
      fleet.has(String(spec['nodeName'])),
      `${metadata.name} runs on a machine of the fleet`,
    );
  }
}

function shardAddress({ node }: Installation): string {
  return `${node.pod(SHARD)?.address}:7780`;
}

/** Waits until the shard has so many machines in that state. */
async function machinesIn(
  cluster: Installation,
  wanted: MachineState,
  count: number,
): Promise<void> {
  await eventually(
    async () => {
      const machines = [...(await machinesOf(shardAddress(cluster))).values()];
      return machines.filter(({ state }) => state === wanted).length >= count;
    },
    { what: `${count} machines in state ${wanted}`, everyMs: 100 },
  );
}

async function metric(cluster: Installation, name: string, series: RegExp): Promise<string[]> {
  const port = METRICS_PORTS.find(([pattern]) => pattern.test(name))?.[1];
  const { body } = await http({ url: `http://${cluster.node.pod(name)?.address}:${port}/metrics` });
  return body.split('\n').filter((line) => series.test(line));
}

test('14. The five install steps of the operator guide as printed, then a Pending Pod runs', {
  skip,
}, async (t) => {
  const cluster = theCluster(t);
  const { shell, plane, node } = cluster;
  const steps = installSteps();
  const look = steps.pop() ?? '';
  assert.equal(steps.length, 4);
  for (const text of steps) await shell.run(text);
  await rolledOut(cluster, ...Object.values(WORKLOADS));
  await cluster.installProvider('bigfleet-provider-example', NAMESPACE);
  const { code, stdout, stderr } = await node.exec('bigfleet-coordinator-0', ...registration());
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^registered provider example /);
  await plane.namespace('shop');
  await plane.admin.must(plane.admin.create(podsPath('shop'), pod('web', CPU_MILLIS)));
  await podsRun(cluster, 'shop', 1);
  assert.match(await shell.run(look), /^ac-/m);
  noPodWasRestarted(cluster);
});

test('14. Again with the coordinator stopped and the shard restarted', { skip }, async (t) => {
  const cluster = theCluster(t);
  const { shell, plane } = cluster;
  const { coordinator, shard } = WORKLOADS;
  await shell.run(`kubectl --namespace ${NAMESPACE} scale ${coordinator} --replicas=0`);
  await rolledOut(cluster, coordinator);
  await shell.run(`kubectl --namespace ${NAMESPACE} delete pod ${SHARD}`);
  await rolledOut(cluster, shard);
  await plane.admin.must(plane.admin.create(podsPath('shop'), pod('web-2', CPU_MILLIS)));
  await podsRun(cluster, 'shop', 2);
  // `coordinator.bootstrap` is still true: three replicas with data begin no second fleet.
  await shell.run(`kubectl --namespace ${NAMESPACE} scale ${coordinator} --replicas=3`);
  await rolledOut(cluster, coordinator);
  const { stdout } = await cluster.node.exec(
    'bigfleet-coordinator-0',
    'bigfleetctl',
    'list-providers',
  );
  assert.match(stdout, /^example /m);
  noPodWasRestarted(cluster);
});

test('17. `helm upgrade` under load from one build to the next: no bootstrap lost, no cycle skipped', {
  skip,
}, async (t) => {
  const cluster = theCluster(t);
  const { shell, plane, node, machines } = cluster;
  const { coordinator, shard, operator, controller } = WORKLOADS;
  await plane.namespace('load');
  const upgrade = (release: string, values: string) =>
    shell.run(
      `helm upgrade ${release} ./deploy/helm/${release} --namespace ${NAMESPACE} ${values} --set image.tag=${NEXT.tag}`,
    );
  const scale = (count: number) =>
    shell.run(`kubectl --namespace load scale deployment/web --replicas=${count}`);
  const { metadata, spec } = pod('web', CPU_MILLIS);
  const labels = { app: 'web' };
  await plane.admin.must(
    plane.admin.create('/apis/apps/v1/namespaces/load/deployments', {
      metadata: { name: 'web' },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { ...(metadata as object), name: undefined, labels }, spec },
      },
    }),
  );
  await podsRun(cluster, 'load', 1);
  const watch = new UpgradeWatch(node, COORDINATORS);
  const endedBefore = node.ended.length;
  const actsBefore = machines.acts.length;

  // The shard goes while its machines are being configured.
  const releaseConfigure = machines.hold('configure');
  await scale(3);
  await machinesIn(cluster, MachineState.CONFIGURING, 2);
  await upgrade('bigfleet', '--set coordinator.replicas=3 --set coordinator.bootstrap=false');
  await rolledOut(cluster, shard);
  releaseConfigure();
  await podsRun(cluster, 'load', 3);
  await scale(5);
  await rolledOut(cluster, coordinator);
  await podsRun(cluster, 'load', 5);

  // The operator goes while machines are being created: their blobs are asked for, and nobody answers.
  const releaseCreate = machines.hold('create');
  await scale(7);
  await machinesIn(cluster, MachineState.CREATING, 2);
  await upgrade(
    'bigfleet-operator',
    '--set clusterID=cluster-prod-eu --set shardAddress=bigfleet-shard.bigfleet-system:7780',
  );
  releaseCreate();
  await rolledOut(cluster, operator);
  await podsRun(cluster, 'load', 7);

  // Pods that come while nobody looks.
  await upgrade('bigfleet-unschedulable-pod-controller', '');
  await scale(9);
  await rolledOut(cluster, controller);
  await podsRun(cluster, 'load', 9);

  const seen = await watch.end();
  t.diagnostic(
    `${seen.voterCounts.length} looks, ${seen.callCount} calls, ${seen.failures.length} unanswered, longest ${Math.round(seen.longestUnansweredMs)} ms`,
  );
  console.log(seen.voterCounts.join(''), seen.failures);
  console.log(machines.acts);
  console.log(node.ended);
  console.log((await metric(cluster, SHARD, /session_lifecycle|reissued|bootstrap/)).join('\n'));
  const recs = await node.exec(
    SHARD,
    'bigfleet',
    'records',
    '--records-dir=/var/lib/bigfleet-shard/records',
    '-o',
    'json',
  );
  console.log(
    recs.stdout
      .split('\n')
      .map((l) => l.slice(0, 300))
      .join('\n'),
    recs.stderr,
  );
  console.log(actsBefore, endedBefore);
  for (const { name } of node.pods) {
    const [line = ''] = await metric(cluster, name, /^bigfleet_build_info/);
    assert.match(line, /revision="next"/, name);
  }
  await oneRequestPerPod(plane, 'load');
  for (const { metadata: m } of await listAll(plane.admin, requestsPath(NAMESPACE)))
    console.log(m.name, m.labels);
  noPodWasRestarted(cluster);
});

function noPodWasRestarted({ node }: Installation): void {
  const restarted = [...node.pods, ...node.ended].filter(({ restartCount }) => restartCount > 0);
  assert.deepEqual(
    restarted.map(({ name, restartCount }) => `${name} ${restartCount}`),
    [],
  );
  assert.deepEqual([...node.problems], []);
}
