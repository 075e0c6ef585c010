// BigFleet as its owner installs and upgrades it (kubernetes §7.2, behaviours 14 and 17; coordinator §7.5 and
// §11.3): the five steps of the operator guide as printed, onto a node that runs the real images, and then
// `helm upgrade` to another build while Pods keep coming.

import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { MachineState } from '@bigfleet/wire';
import { machinesOf } from '../shard/query.ts';
import { eventually, HANG_MS, http } from '../toolkit/index.ts';
import { skipWithout } from './binaries.ts';
import { installSteps, registration } from './charts/guide.ts';
import { listAll, type Stored } from './demand.ts';
import type { Container } from './images/container.ts';
import { Installation } from './installed/installation.ts';
import type { EndedPod, RunningNode } from './installed/node.ts';
import { UpgradeWatch } from './installed/upgrade-watch.ts';
import { oneRequestPerPod, pod, podsPath } from './pods-and-requests.ts';
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
/** kubectl gives up, and says what it waited for, before the shell is taken to hang. */
const KUBECTL_WAIT = `--timeout=${HANG_MS / 1_000 - 10}s`;
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
    await shell.run(`kubectl --namespace ${NAMESPACE} rollout status ${one} ${KUBECTL_WAIT}`);
  }
}

/** Until its output matches: coordinators that serve may have no leader for a moment. */
async function shows({ shell }: Installation, text: string, wanted: RegExp): Promise<void> {
  let seen = '';
  await eventually(
    async () => {
      seen = await shell.run(text);
      return wanted.test(seen);
    },
    { what: `${text} shows ${String(wanted)}`, everyMs: 500, details: () => seen },
  );
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

/** Lines of its metrics. */
async function series(cluster: Installation, name: string, wanted: RegExp): Promise<string[]> {
  const port = METRICS_PORTS.find(([pattern]) => pattern.test(name))?.[1];
  const { body } = await http({ url: `http://${cluster.node.pod(name)?.address}:${port}/metrics` });
  return body.split('\n').filter((line) => wanted.test(line));
}

test('14. The five install steps of the operator guide as printed, then a Pending Pod runs', {
  skip,
}, async (t) => {
  const cluster = theCluster(t);
  const { shell, plane } = cluster;
  const steps = installSteps();
  const look = steps.pop() ?? '';
  assert.equal(steps.length, 4);
  let notes = '';
  for (const text of steps) notes += await shell.run(text);
  // Every flag that the fifth step needs, also where helm says what comes next.
  assert.match(notes, / register-provider --name=\S+ --address=\S+ --region=\S+ --probe$/m);
  await rolledOut(cluster, ...Object.values(WORKLOADS));
  await cluster.installProvider('bigfleet-provider-example', NAMESPACE);
  await shows(cluster, registration(), /^registered provider example /m);
  await plane.namespace('shop');
  await plane.admin.must(plane.admin.create(podsPath('shop'), pod('web', CPU_MILLIS)));
  await podsRun(cluster, 'shop', 1);
  await shows(cluster, look, /^ac-/m);
  noPodWasRestarted(cluster);
});

test('who has the role of the chart asks coordinators with bigfleetctl, and enters nothing else', {
  skip,
}, async (t) => {
  const { plane, shell } = theCluster(t);
  const user = { name: 'carol' };
  await shell.run(
    `kubectl --namespace ${NAMESPACE} create rolebinding ctl --role=bigfleet-ctl --user=${user.name}`,
  );
  const kubeconfig = await plane.kubeconfigOf(user);
  const enter = (name: string, ...command: string[]) =>
    plane.kubectl(['-n', NAMESPACE, 'exec', name, '--', ...command], { kubeconfig });
  let seen = '';
  await eventually(
    async () => {
      const { code, output } = await enter('bigfleet-coordinator-0', 'bigfleetctl', 'status');
      seen = output;
      return code === 0 && /^Leader: +bigfleet-coordinator-/m.test(output);
    },
    {
      what: 'the role is known to the server, and the leader to the coordinator',
      everyMs: 250,
      details: () => seen,
    },
  );
  const refused = await enter(SHARD, 'bigfleet', '--help');
  assert.notEqual(refused.code, 0);
  assert.match(refused.output, /forbidden/i);
});

test('14. Again with the coordinator stopped and the shard restarted', { skip }, async (t) => {
  const cluster = theCluster(t);
  const { shell, plane } = cluster;
  const { coordinator, shard } = WORKLOADS;
  const its = '--selector app.kubernetes.io/name=bigfleet-coordinator';
  await shell.run(`kubectl --namespace ${NAMESPACE} scale ${coordinator} --replicas=0`);
  await shell.run(`kubectl --namespace ${NAMESPACE} wait --for=delete pod ${its} ${KUBECTL_WAIT}`);
  await shell.run(`kubectl --namespace ${NAMESPACE} delete pod ${SHARD}`);
  await rolledOut(cluster, shard);
  await plane.admin.must(plane.admin.create(podsPath('shop'), pod('web-2', CPU_MILLIS)));
  await podsRun(cluster, 'shop', 2);
  // `coordinator.bootstrap` is still true: three replicas with data begin no second fleet.
  await shell.run(`kubectl --namespace ${NAMESPACE} scale ${coordinator} --replicas=3`);
  await rolledOut(cluster, coordinator);
  const ctl = `kubectl --namespace ${NAMESPACE} exec bigfleet-coordinator-0 -- bigfleetctl`;
  await shows(cluster, `${ctl} list-providers`, /^example /m);
  noPodWasRestarted(cluster);
});

test('17. `helm upgrade` under load from one build to the next: no bootstrap lost, no cycle skipped', {
  skip,
}, async (t) => {
  const cluster = theCluster(t);
  const { plane, node, machines } = cluster;
  const { coordinator, shard, operator, controller } = WORKLOADS;
  await startLoad(cluster);
  const old = node.pods.map(({ name }) => name);
  const gone = node.ended.length;
  const watch = new UpgradeWatch(node, COORDINATORS);
  t.after(() => watch.end());

  // The shard goes while its machines are being configured, the coordinators after each other.
  const releaseConfigure = machines.hold('configure');
  await scale(cluster, 3);
  await machinesIn(cluster, MachineState.CONFIGURING, 2);
  await upgrade(cluster, 'bigfleet', {
    'coordinator.replicas': '3',
    'coordinator.bootstrap': 'false',
  });
  await rolledOut(cluster, shard);
  releaseConfigure();
  await podsRun(cluster, 'load', 3);
  await scale(cluster, 5);
  await rolledOut(cluster, coordinator);
  await podsRun(cluster, 'load', 5);

  // The operator goes while blobs that it was asked for are pending, and answers none of them: it hangs, and
  // is killed as a kubelet does at the end of its patience.
  const releaseCreate = machines.hold('create');
  await scale(cluster, 7);
  await machinesIn(cluster, MachineState.CREATING, 2);
  const hung = containerOf(node, 'bigfleet-operator-');
  hung.signal('SIGSTOP');
  releaseCreate();
  await machinesIn(cluster, MachineState.CONFIGURING, 2);
  await upgrade(cluster, 'bigfleet-operator', {
    clusterID: 'cluster-prod-eu',
    shardAddress: 'bigfleet-shard.bigfleet-system:7780',
  });
  await eventually(() => !old.some((name) => isOperator(name) && node.pod(name) !== undefined), {
    what: 'the old operator is told to go',
  });
  hung.signal('SIGKILL');
  await rolledOut(cluster, operator);
  await podsRun(cluster, 'load', 7);

  // Pods come while no controller looks.
  await upgrade(cluster, 'bigfleet-unschedulable-pod-controller', {});
  await scale(cluster, 9);
  await rolledOut(cluster, controller);
  await podsRun(cluster, 'load', 9);

  const seen = await watch.end();
  t.diagnostic(
    `${seen.voterCounts.length} looks, at least ${seen.fewestServing} serving, ${seen.callCount} calls answered, ` +
      `${seen.failures.length} tries were not, longest wait ${Math.round(seen.longestUnansweredMs)} ms`,
  );
  assert.ok(seen.callCount > 0);
  assert.equal(Math.min(...seen.voterCounts), 2, `voters: ${seen.voterCounts.join('')}`);
  // A workload is rolled out when the old Pod is told to go, not when it is gone.
  await eventually(() => node.ended.length - gone >= old.length, {
    what: `${old.length} Pods of the old build are gone`,
    details: () => node.tails(),
  });
  await everyProcessIsOf(cluster, NEXT.revision);
  allEndedWell(node.ended.slice(gone), old);
  noPodWasRestarted(cluster);
  await oneRequestPerPod(plane, 'load');
  await bootstrapsAreWhole(t, cluster, 11);
  await cyclesAreWhole(t, cluster);
});

/** Pods that each take a machine, from a Deployment that `scale` lets grow. */
async function startLoad(cluster: Installation): Promise<void> {
  const { plane } = cluster;
  const { admin } = plane;
  await plane.namespace('load');
  const { metadata, spec } = pod('web', CPU_MILLIS);
  const { annotations } = metadata as { readonly annotations: Readonly<Record<string, string>> };
  const labels = { app: 'web' };
  await admin.must(
    admin.create('/apis/apps/v1/namespaces/load/deployments', {
      metadata: { name: 'web' },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { annotations, labels }, spec },
      },
    }),
  );
  await podsRun(cluster, 'load', 1);
}

async function scale({ shell }: Installation, count: number): Promise<void> {
  await shell.run(`kubectl --namespace load scale deployment/web --replicas=${count}`);
}

/** To the next build, with the values of the install steps. */
async function upgrade(
  { shell }: Installation,
  release: string,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const all = Object.entries({ ...values, 'image.tag': NEXT.tag });
  const sets = all.map(([name, value]) => `--set ${name}=${value}`).join(' ');
  await shell.run(
    `helm upgrade ${release} ./deploy/helm/${release} --namespace ${NAMESPACE} ${sets}`,
  );
}

async function everyProcessIsOf(cluster: Installation, revision: string): Promise<void> {
  assert.equal(cluster.node.pods.length, 6);
  for (const { name } of cluster.node.pods) {
    const [line = ''] = await series(cluster, name, /^bigfleet_build_info\{/);
    assert.match(line, new RegExp(`revision="${revision}"`), name);
  }
}

/** Every process of the old build left by itself, but for the operator, which was made to hang. */
function allEndedWell(ended: readonly EndedPod[], old: readonly string[]): void {
  assert.deepEqual(ended.map(({ name }) => name).sort(), [...old].sort());
  for (const { name, image, exits } of ended) {
    assert.match(image, new RegExp(`:${FIRST.tag}$`), name);
    // That of a killed process is told by podman, or by the signal that podman itself got meanwhile.
    if (!isOperator(name)) assert.deepEqual(exits, [{ kind: 'code', code: 0 }], name);
  }
}

/**
 * A bootstrap that was lost would leave a machine that was told to be configured and never was, fail it, or
 * have it configured again.
 */
async function bootstrapsAreWhole(
  t: TestContext,
  cluster: Installation,
  podCount: number,
): Promise<void> {
  const { machines } = cluster;
  const states = await eventually(
    async () => {
      const all = [...(await machinesOf(shardAddress(cluster))).values()];
      const moving: readonly MachineState[] = [
        MachineState.CREATING,
        MachineState.CONFIGURING,
        MachineState.DRAINING,
      ];
      return !all.some(({ state }) => moving.includes(state)) && all;
    },
    { what: 'no machine is on its way', everyMs: 250 },
  );
  const failed = states.filter(({ state }) => state === MachineState.FAILED);
  assert.deepEqual(
    failed.map(({ machineId, lastError }) => `${machineId} ${lastError}`),
    [],
  );
  const configured = machines.acts.filter((act) => act.startsWith('configure '));
  assert.equal(new Set(configured).size, configured.length, configured.join(', '));
  assert.ok(configured.length >= podCount, configured.join(', '));
  const lines = await series(
    cluster,
    SHARD,
    /^bigfleet_shard_(session_lifecycle|bootstrap_reissued)/,
  );
  t.diagnostic(`${configured.length} machines for ${podCount} Pods; ${lines.join(', ')}`);
  // The only operator that this shard has seen replaced is the one of the old build.
  const replaced = lines.find((line) => line.includes('event="replaced"'));
  assert.ok(Number(replaced?.split(' ')[1]) <= 1, replaced);
}

interface RecordedCycle {
  readonly epoch: string;
  readonly cycle: string;
  readonly problem: string;
  readonly heldBack?: unknown;
}

/**
 * Each process of the shard counts its cycles from one and writes a record of each (shard §6.2): none is
 * missing, none was held back or lost a roll-up, and a process comes directly after its predecessor. The new
 * one goes on deciding.
 */
async function cyclesAreWhole(t: TestContext, cluster: Installation): Promise<void> {
  const read = async (): Promise<readonly RecordedCycle[]> => {
    const folder = '--records-dir=/var/lib/bigfleet-shard/records';
    const command = ['bigfleet', 'records', folder, '--output=json'];
    const args = ['-n', NAMESPACE, 'exec', SHARD, '--', ...command];
    const { code, stdout, output } = await cluster.plane.kubectl(args);
    assert.equal(code, 0, output);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RecordedCycle);
  };
  const all = await eventually(read, { what: 'the records are read', everyMs: 500 });
  const byEpoch = Map.groupBy(all, ({ epoch }) => Number(epoch));
  // The install, the restart of the test before, the upgrade.
  assert.deepEqual([...byEpoch.keys()], [1, 2, 3]);
  for (const [epoch, cycles] of byEpoch) {
    assert.deepEqual(
      cycles.map(({ cycle }) => Number(cycle)),
      cycles.map((_, at) => at + 1),
      `epoch ${epoch}`,
    );
    t.diagnostic(`epoch ${epoch}: ${cycles.length} cycles`);
  }
  const disturbed = all.filter(({ problem, heldBack }) => problem !== '' || heldBack !== undefined);
  assert.deepEqual(disturbed, []);
  await eventually(async () => (await read()).length > all.length, {
    what: 'another cycle of the new shard',
    everyMs: 500,
  });
}

function isOperator(name: string): boolean {
  return name.startsWith('bigfleet-operator-');
}

function containerOf(node: RunningNode, prefix: string): Container {
  const container = node.pods.find(({ name }) => name.startsWith(prefix))?.containers[0]?.container;
  if (container === undefined) throw new Error(`nothing of ${prefix} runs`);
  return container;
}

function noPodWasRestarted({ node }: Installation): void {
  const restarted = [...node.pods, ...node.ended].filter(({ restartCount }) => restartCount > 0);
  assert.deepEqual(
    restarted.map(({ name, restartCount }) => `${name} ${restartCount}`),
    [],
  );
  assert.deepEqual([...node.problems], []);
}
