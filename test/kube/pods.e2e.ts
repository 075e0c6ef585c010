// What the pod controller makes of Pods, and what of it reaches the shard, on a real cluster: one request per
// Pod through bursts, lag and restarts; ended Pods, classes and edits by hand, DaemonSets, gangs, static nodes.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { captureSink, createLogger, createRegistry, parseListenAddress } from '@bigfleet/telemetry';
import { startPodController } from '@bigfleet/pod-controller';
import { start } from '../operator/cluster-processes.ts';
import { eventually, HANG_MS } from '../toolkit/index.ts';
import type { Json } from './api.ts';
import { skipWithout } from './binaries.ts';
import { demandIsWhole, listAll, type Need, needsAtShard, type Stored } from './demand.ts';
import { each, oneRequestPerPod, pod, podsPath, requestsPath } from './pods-and-requests.ts';
import { SkippingRuntime } from './skipping-runtime.ts';
import { startWorld, type World } from './world/world.ts';

const skip = skipWithout('controlPlane', 'helm');
const BUDGET = ['--qps=1000', '--burst=2000'];
const OWNED_BY_POD = 'bigfleet.lucy.sh/owned-by-pod';
const FOREIGN = 'bigfleet.lucy.sh/foreign-node';
const REPLICAS = 500;
let world: World;

before(async () => {
  if (skip !== false) return;
  world = await startWorld({
    operatorArgs: BUDGET,
    podControllerArgs: BUDGET,
  });
});

after(async () => {
  await world?.[Symbol.asyncDispose]();
});

function podTemplate(labels: Json, spec: Json, cpu = '1m'): Json {
  const resources = { requests: { cpu } };
  return {
    metadata: { labels },
    spec: { containers: [{ name: 'main', image: 'app:1', resources }], ...spec },
  };
}

async function created(path: string, body: Json): Promise<Stored> {
  const { admin } = world.plane;
  return (await admin.must(admin.create(path, body))) as unknown as Stored;
}

async function merged(path: string, body: Json): Promise<void> {
  await world.plane.admin.must(world.plane.admin.merge(path, body));
}

function requestsIn(namespace: string): Promise<readonly Stored[]> {
  return listAll(world.plane.admin, requestsPath(namespace));
}

/** The one request of that Pod, once it is as wanted. */
function requestOf(
  namespace: string,
  podName: string,
  isWanted: (request: Stored) => boolean = () => true,
): Promise<Stored> {
  const prefix = `cr-pod-${podName}-`;
  let seen: Stored | undefined;
  return eventually(
    async () => {
      seen = (await requestsIn(namespace)).find(({ metadata }) => metadata.name.startsWith(prefix));
      return seen !== undefined && isWanted(seen) && seen;
    },
    { what: `the request of ${podName}`, details: () => JSON.stringify(seen) },
  );
}

/** Of the needs whose fingerprint holds the text, once the shard has them as wanted. */
function needsWith(
  text: string,
  isWanted: (needs: readonly Need[]) => boolean,
): Promise<readonly Need[]> {
  let seen: readonly Need[] | undefined;
  return eventually(
    async () => {
      const all = await needsAtShard(world.shardAddress, world.clusterId);
      seen = all?.filter(({ fingerprint }) => fingerprint.includes(text));
      return seen !== undefined && isWanted(seen) && seen;
    },
    {
      what: `needs with ${text}`,
      everyMs: 200,
      withinMs: 3 * HANG_MS,
      details: () => JSON.stringify(seen),
    },
  );
}

test('3. Every Pod has exactly one CR under 1 000 Pods in a burst with an induced cache lag; a controller restart creates none twice', {
  skip,
}, async (t) => {
  world.explainFailures(t);
  const { admin } = world.plane;
  const namespace = await world.plane.namespace('burst');
  const path = requestsPath(namespace);
  const seen = await Creations.follow(path);
  // Everything that the controller hears is old: its own writes in its watch, too.
  world.proxies.podController.fault('down', { latencyMs: 150 });
  const numbers = Array.from({ length: 1_000 }, (_, at) => at);
  await each(
    numbers,
    async (at) => {
      const name = `p-${at}`;
      await admin.must(
        admin.create(podsPath(namespace), pod(name, 1, { nodeSelector: { team: 'burst' } })),
      );
      const penalty = { 'bigfleet.lucy.sh/interruption-penalty': String(1 + (at % 3)) };
      await merged(`${podsPath(namespace)}/${name}`, {
        metadata: { labels: { touched: 'yes' }, annotations: penalty },
      });
      // In the middle of it: killed, and started beside another one, as a careless update would.
      if (at === 400) await world.podController.restart();
    },
    32,
  );
  await using second = await start('pod-controller', secondArgs());
  await oneRequestPerPod(world.plane, namespace);
  await world.proxies.podController.heal();
  await world.podController.restart();
  const requests = await oneRequestPerPod(world.plane, namespace);
  assert.equal(requests.length, numbers.length);
  assert.equal(await second.metric(reconciles('duplicate_deleted')), 0);
  // Every creation that ever was, also of requests that were deleted since.
  await seen.stop();
  assert.equal(seen.byPod.size, numbers.length);
  assert.deepEqual(
    [...seen.byPod].filter(([, count]) => count !== 1),
    [],
  );
  assert.equal(seen.deletionCount, 0);
  await needsWith('team:1:burst', (all) => all.length === 3 && sumMillis(all) === numbers.length);
  // One by one: the server gives the deletion of a whole collection a minute.
  await each(
    numbers,
    (at) => admin.must(admin.delete(`${podsPath(namespace)}/p-${at}`, { gracePeriodSeconds: 0 })),
    32,
  );
  await eventually(async () => (await requestsIn(namespace)).length === 0, {
    what: 'the requests are collected with their Pods',
    everyMs: 500,
    withinMs: 5 * HANG_MS,
  });
  await needsWith('team:1:burst', (all) => all.length === 0);
});

function reconciles(outcome: string): string {
  return `bigfleet_unschedulable_pod_controller_reconciles_total{outcome="${outcome}"}`;
}

function secondArgs(): readonly string[] {
  return world.podController.args.filter((each) => !each.startsWith('--metrics-addr'));
}

/** Every creation in a collection, through any number of watches: a server ends those of slow readers. */
class Creations {
  readonly byPod = new Map<string, number>();
  deletionCount = 0;
  readonly #path: string;
  #resourceVersion: string;
  #last = '';
  #following: Promise<void> | undefined;

  private constructor(path: string, resourceVersion: string) {
    this.#path = path;
    this.#resourceVersion = resourceVersion;
  }

  static async follow(path: string): Promise<Creations> {
    const { admin } = world.plane;
    const { metadata } = await admin.must(admin.get(path));
    const creations = new Creations(path, (metadata as Stored['metadata']).resourceVersion);
    creations.#following = creations.#follow();
    return creations;
  }

  /** Resolves when everything until now was seen. */
  async stop(): Promise<void> {
    this.#last = 'last';
    const body = { apiVersion: 'bigfleet.lucy.sh/v1alpha1', kind: 'CapacityRequest' };
    const spec = { priority: 0, resources: {} };
    await created(this.#path, { ...body, metadata: { name: this.#last }, spec });
    await this.#following;
    const { admin } = world.plane;
    await admin.must(admin.delete(`${this.#path}/${this.#last}`));
  }

  async #follow(): Promise<void> {
    for (;;) {
      const query = `watch=true&resourceVersion=${this.#resourceVersion}`;
      const watch = await world.plane.admin.watch(`${this.#path}?${query}`);
      for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
        assert.notEqual(event.type, 'ERROR', JSON.stringify(event));
        const { metadata } = event.object as unknown as Stored;
        this.#resourceVersion = metadata.resourceVersion;
        if (metadata.name === this.#last) {
          watch.end();
          return;
        }
        this.#count(event.type, metadata.labels?.[OWNED_BY_POD] ?? '');
      }
    }
  }

  #count(type: string, podUid: string): void {
    if (type === 'ADDED') this.byPod.set(podUid, (this.byPod.get(podUid) ?? 0) + 1);
    if (type === 'DELETED') this.deletionCount++;
  }
}

function sumMillis(needs: readonly Need[]): number {
  const millis = needs.map(({ resources }) => resources['cpu'] ?? '0');
  return millis.reduce(
    (sum, cpu) => sum + (cpu.endsWith('m') ? Number(cpu.slice(0, -1)) : Number(cpu) * 1_000),
    0,
  );
}

test('4. A completed Job Pod loses its CR while the Pod object remains', { skip }, async (t) => {
  world.explainFailures(t);
  const namespace = await world.plane.namespace('jobs');
  await created(`/apis/batch/v1/namespaces/${namespace}/jobs`, {
    metadata: { name: 'once' },
    spec: {
      template: podTemplate(
        {},
        { restartPolicy: 'Never', nodeSelector: { 'topology.kubernetes.io/zone': 'a' } },
      ),
    },
  });
  const running = await eventually(
    async () => {
      const [only] = await listAll(world.plane.admin, podsPath(namespace));
      return only?.status?.['phase'] === 'Running' && only;
    },
    { what: 'the Pod of the Job runs' },
  );
  const { name } = running.metadata;
  await requestOf(namespace, name);
  await world.kubelets.kubelets.finishPod(namespace, name, 'Succeeded');
  await eventually(async () => (await requestsIn(namespace)).length === 0, {
    what: 'the request is gone',
  });
  const [left] = await listAll(world.plane.admin, podsPath(namespace));
  assert.deepEqual([left?.metadata.name, left?.status?.['phase']], [name, 'Succeeded']);
});

test('22. Class file with `priority`: the CR carries it; `kubectl edit` survives until the Pod changes', {
  skip,
}, async (t) => {
  world.explainFailures(t);
  const namespace = await world.plane.namespace('classes');
  await created('/apis/scheduling.k8s.io/v1/priorityclasses', {
    metadata: { name: 'gold' },
    value: 5_000,
  });
  const file = join(world.folder, 'classes.yaml');
  const plain = world.podController.args;
  writeFileSync(file, 'gold: { priority: 7000, reclamationPenalty: "3" }\n');
  await world.podController.restart([...plain, `--priority-class-defaults=${file}`]);
  const annotations = { 'bigfleet.lucy.sh/interruption-penalty': '4' };
  await created(podsPath(namespace), {
    ...podTemplate({}, { priorityClassName: 'gold', nodeSelector: { team: 'classes' } }),
    metadata: { name: 'db', annotations },
  });
  const { metadata, spec } = await requestOf(namespace, 'db');
  assert.deepEqual(
    [spec['priority'], spec['interruptionPenalty'], spec['reclamationPenalty']],
    [7_000, '4', '3'],
  );
  await needsWith('team:1:classes', ([need]) => need?.fingerprint.includes('p=7000|') === true);

  process.env['KUBE_EDITOR'] =
    'sed -i -e "s/priority: 7000/priority: 9999/" -e "s/interruptionPenalty: .*/interruptionPenalty: 64/"';
  const edited = await world.plane.kubectl(['edit', '-n', namespace, 'cr', metadata.name]);
  assert.equal(edited.code, 0, edited.output);
  await needsWith('team:1:classes', ([need]) => need?.fingerprint.includes('p=9999|') === true);
  // Neither a look at the Pod, nor a change of something that is not derived, nor a restart undoes it.
  await merged(`${podsPath(namespace)}/db`, { metadata: { labels: { touched: 'yes' } } });
  await world.podController.restart();
  await created(podsPath(namespace), { ...pod('later', 1) });
  await requestOf(namespace, 'later');
  const kept = await requestOf(namespace, 'db');
  assert.deepEqual([kept.spec['priority'], kept.spec['interruptionPenalty']], [9_999, 64]);

  // The Pod changes one field: that one is the Pod's again, the other stays the person's.
  await merged(`${podsPath(namespace)}/db`, {
    metadata: { annotations: { 'bigfleet.lucy.sh/interruption-penalty': '8' } },
  });
  const changed = await requestOf(
    namespace,
    'db',
    (request) => request.spec['interruptionPenalty'] === '8',
  );
  assert.equal(changed.spec['priority'], 9_999);
  writeFileSync(file, 'gold: { priority: 7500 }\n');
  await world.podController.restart();
  await requestOf(
    namespace,
    'db',
    (request) =>
      request.spec['priority'] === 7_500 && request.spec['reclamationPenalty'] === undefined,
  );
  await world.podController.restart(plain);
});

test('6. Gangs: equal terms in two namespaces give two Needs; 500 replicas without affinity give one', {
  skip,
}, async (t) => {
  world.explainFailures(t);
  await world.plane.namespace('replicas');
  await created('/apis/apps/v1/namespaces/replicas/deployments', {
    metadata: { name: 'web' },
    spec: {
      replicas: REPLICAS,
      selector: { matchLabels: { app: 'web' } },
      template: podTemplate({ app: 'web' }, { nodeSelector: { team: 'web' } }),
    },
  });
  const namespaces = [await world.plane.namespace('gang-a'), await world.plane.namespace('gang-b')];
  const term = {
    topologyKey: 'topology.kubernetes.io/rack',
    labelSelector: { matchLabels: { app: 'db' } },
  };
  // The other spelling of the same selector is the same gang.
  const spelled = {
    ...term,
    labelSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['db'] }] },
  };
  for (const namespace of namespaces) {
    for (const [name, one] of [
      ['a', term],
      ['b', spelled],
      ['c', term],
    ] as const) {
      const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [one] } };
      await created(podsPath(namespace), {
        ...podTemplate({}, { affinity, nodeSelector: { team: 'gang' } }, '7m'),
        metadata: { name, labels: { app: 'db' } },
      });
    }
  }
  const gangs = await needsWith(
    'team:1:gang',
    (needs) => needs.length === 2 && needs.every(({ resources }) => resources['cpu'] === '21m'),
  );
  assert.equal(new Set(gangs.map(({ group }) => group)).size, 2);
  for (const { fingerprint, group, minUnit } of gangs) {
    assert.match(fingerprint, /topology\.kubernetes\.io\/rack:5:/);
    assert.match(group, /^g-[0-9a-f]{32}$/);
    assert.equal(minUnit['cpu'], '7m');
  }
  const [replicas] = await needsWith(
    'team:1:web',
    (needs) => needs.length === 1 && sumMillis(needs) === REPLICAS,
  );
  assert.deepEqual([replicas?.group, replicas?.minUnit], ['', { cpu: '1m' }]);
});

test('19. A DaemonSet on N nodes gives one Need, not N; `--daemonset-pods=ignore` gives none', {
  skip,
}, async (t) => {
  world.explainFailures(t);
  const namespace = await world.plane.namespace('daemons');
  const count = 4;
  for (let at = 0; at < count; at++) {
    const labels = { fleet: 'daemons', 'bigfleet.lucy.sh/machine-id': `daemons-${at}` };
    const joined = await world.kubelets.kubelets.join({ name: `daemons-${at}`, labels }, '');
    assert.equal(joined.kind, 'joined');
  }
  await created(`/apis/apps/v1/namespaces/${namespace}/daemonsets`, {
    metadata: { name: 'agent' },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: podTemplate({ app: 'agent' }, { nodeSelector: { fleet: 'daemons' } }, '5m'),
    },
  });
  const [need] = await needsWith(
    'fleet:1:daemons',
    (needs) => needs.length === 1 && needs[0]?.resources['cpu'] === `${5 * count}m`,
  );
  assert.deepEqual([need?.group, need?.minUnit], ['', { cpu: '5m' }]);
  assert.doesNotMatch(need?.fingerprint ?? '', /hostname/);
  assert.equal((await requestsIn(namespace)).length, count);

  const plain = world.podController.args;
  await world.podController.restart([...plain, '--daemonset-pods=ignore']);
  await eventually(async () => (await requestsIn(namespace)).length === 0, {
    what: 'the requests of ignored Pods are gone',
  });
  await needsWith('fleet:1:daemons', (needs) => needs.length === 0);
  await world.podController.restart(plain);
  await world.plane.admin.must(
    world.plane.admin.delete(`/apis/apps/v1/namespaces/${namespace}/daemonsets/agent`),
  );
  for (let at = 0; at < count; at++) await world.kubelets.kubelets.leave(`daemons-${at}`);
});

test('18. A Pod on a static node is marked, absent from the roll-up and buys no machine; on an owned node it counts again; a freshly joined owned node is never judged foreign', {
  skip,
}, async (t) => {
  world.explainFailures(t);
  const { admin } = world.plane;
  const { kubelets } = world.kubelets;
  const namespace = await world.plane.namespace('foreign');
  const upcoming = '/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes';
  const plain = world.podController.args;
  await world.podController.kill();
  // The controller's time is the test's here: a node is judged after five minutes.
  const time = new SkippingRuntime();
  await using controller = await inProcess(time);
  for (const [name, labels] of [
    ['static', {}],
    ['labelled', { 'bigfleet.lucy.sh/machine-id': 'foreign-1' }],
    ['named-later', {}],
  ] as const) {
    const joined = await kubelets.join({ name, labels: { fleet: 'foreign', ...labels } }, '');
    assert.equal(joined.kind, 'joined');
  }
  const on = async (name: string, nodeName: string, cpuMillis: number): Promise<void> => {
    await created(podsPath(namespace), pod(name, cpuMillis, nodeSelection(nodeName)));
  };
  await on('on-static', 'static', 100);
  await on('on-labelled', 'labelled', 20);
  await on('on-named-later', 'named-later', 3);
  // An UpcomingNode names the node before it is old enough.
  await created(upcoming, {
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'UpcomingNode',
    metadata: { name: 'un-named-later' },
    spec: { resources: {} },
  });
  await merged(`${upcoming}/un-named-later/status`, {
    status: { phase: 'Ready', nodeRef: { kind: 'Node', name: 'named-later' } },
  });
  // Young nodes belong to nobody yet: everything counts.
  await needsWith('fleet:1:foreign', (needs) => sumMillis(needs) === 123);
  await time.skip(120_000);
  await on('fence', 'labelled', 1_000);
  await requestOf(namespace, 'fence');
  assert.deepEqual(await marksIn(namespace), []);

  const before = world.machines.acts.length;
  await time.skip(240_000);
  const marked = await requestOf(
    namespace,
    'on-static',
    ({ metadata }) => metadata.annotations?.['bigfleet.lucy.sh/excluded'] === 'foreign-node',
  );
  assert.equal(marked.metadata.labels?.[FOREIGN], 'true');
  assert.deepEqual(await marksIn(namespace), [marked.metadata.name]);
  await needsWith('fleet:1:foreign', (needs) => sumMillis(needs) === 1_023);

  // Written with its mark: no roll-up ever sees it.
  await created(podsPath(namespace), {
    ...pod('straight', 5_000),
    spec: { ...(pod('straight', 5_000)['spec'] as Json), nodeName: 'static' },
  });
  const straight = await requestOf(namespace, 'straight');
  assert.equal(straight.metadata.labels?.[FOREIGN], 'true');
  await demandIsWhole(admin, world.shardAddress, world.clusterId);
  const pending = ['get', 'cr', '-n', namespace, '--field-selector=status.phase=Pending'];
  await eventually(
    async () => (await world.plane.kubectl([...pending, '-o', 'name'])).output === '',
    {
      what: 'foreign requests are acknowledged like the others',
    },
  );
  assert.deepEqual(world.machines.acts.slice(before), []);

  // The node turns out to be owned.
  await merged('/api/v1/nodes/static', {
    metadata: { labels: { 'bigfleet.lucy.sh/machine-id': 'foreign-2' } },
  });
  await requestOf(
    namespace,
    'on-static',
    ({ metadata }) =>
      metadata.labels?.[FOREIGN] === undefined &&
      metadata.annotations?.['bigfleet.lucy.sh/excluded'] === undefined,
  );
  await needsWith('fleet:1:foreign', (needs) => sumMillis(needs) === 1_123);
  await admin.must(admin.delete(podsPath(namespace), { gracePeriodSeconds: 0 }));
  await admin.delete(`${upcoming}/un-named-later`);
  for (const name of ['static', 'labelled', 'named-later']) await kubelets.leave(name);
  await controller[Symbol.asyncDispose]();
  await world.podController.start(plain);
});

function nodeSelection(nodeName: string): Json {
  return { nodeSelector: { fleet: 'foreign', 'kubernetes.io/hostname': nodeName } };
}

async function marksIn(namespace: string): Promise<readonly string[]> {
  const marked = (await requestsIn(namespace)).filter(
    ({ metadata }) => metadata.labels?.[FOREIGN] !== undefined,
  );
  return marked.map(({ metadata }) => metadata.name);
}

async function inProcess(time: SkippingRuntime): Promise<AsyncDisposable> {
  const { runtime } = time;
  const kubeconfig = world.podController.args
    .find((each) => each.startsWith('--kubeconfig='))
    ?.slice('--kubeconfig='.length);
  const metricsAddress = parseListenAddress('0');
  assert.ok(kubeconfig !== undefined && metricsAddress.ok);
  const running = await startPodController({
    runtime,
    logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
    registry: createRegistry(),
    env: {},
    settings: {
      kubeconfig,
      metricsAddress: metricsAddress.value,
      qps: 1_000,
      burst: 2_000,
      classDefaultsFile: '',
      daemonSetPods: 'count',
      excludedNamespaces: new Set(),
      requireTls: false,
      traceSamples: '',
      hasDebugEndpoints: false,
      build: { version: 'test', revision: 'test' },
    },
  });
  return { [Symbol.asyncDispose]: () => running.stop() };
}
