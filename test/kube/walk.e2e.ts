// The founding walk-through on a real control plane, with the objects and the commands that the documents print: a
// Pod with a PriorityClass and GPUs becomes a request, the request a machine, the machine a Node, and the Pod
// runs; the Pod goes, and so does all of it.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createTempDir, eventually, startProcess } from '../toolkit/index.ts';
import type { ApiWatch, Json } from './api.ts';
import { kubePrograms, skipWithout } from './binaries.ts';
import { listAll, type Stored } from './demand.ts';
import { podsPath, requestsPath } from './pods-and-requests.ts';
import { nothingIsLeft, runningPods, UPCOMING_NODES } from './session-view.ts';
import { startWorld, type World } from './world/world.ts';

const skip = skipWithout('controlPlane', 'helm');
const TYPE = 'node.kubernetes.io/instance-type';
/** Without `-n`, as the documents have it. */
const NAMESPACE = 'default';
const GPUS = { cpu: '96', memory: '1Ti', 'nvidia.com/gpu': '8' };

const stack = new AsyncDisposableStack();
let world: World;

before(async () => {
  if (skip !== false) return;
  const { path } = stack.use(createTempDir('walk'));
  const classes = join(path, 'classes.yaml');
  writeFileSync(
    classes,
    'ml-research: { interruptionPenalty: "8192", reclamationPenalty: "65536" }\n',
  );
  world = stack.use(
    await startWorld({
      hasTls: true,
      offers: [
        { instanceType: 'std-4', zone: 'a', count: 4 },
        { instanceType: 'a3-highgpu-8g', zone: 'b', count: 4, pricePerHour: 88, resources: GPUS },
      ],
      podControllerArgs: [`--priority-class-defaults=${classes}`],
    }),
  );
});

after(() => stack.disposeAsync());

async function created(path: string, body: Json): Promise<Stored> {
  const { admin } = world.plane;
  return (await admin.must(admin.create(path, body))) as unknown as Stored;
}

function trainer(name: string): Json {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      priorityClassName: 'ml-research',
      nodeSelector: { [TYPE]: 'a3-highgpu-8g' },
      containers: [
        {
          name: 'trainer',
          image: 'internal/trainer:v42',
          resources: { limits: { 'nvidia.com/gpu': 8 } },
        },
      ],
    },
  };
}

interface WholeRequest extends Stored {
  readonly metadata: Stored['metadata'] & {
    readonly generateName: string;
    readonly ownerReferences: readonly Json[];
  };
}

async function requestOf(pod: Stored): Promise<WholeRequest> {
  const found = await eventually(
    async () =>
      (await listAll(world.plane.admin, requestsPath(NAMESPACE))).find(
        ({ metadata }) => metadata.labels?.['bigfleet.lucy.sh/owned-by-pod'] === pod.metadata.uid,
      ),
    { what: `the request of ${pod.metadata.name}`, details: () => world.tails() },
  );
  return found as WholeRequest;
}

function isDocumented(request: WholeRequest, pod: Stored): void {
  const { name, uid } = pod.metadata;
  const digest = createHash('sha256').update(uid).digest('hex').slice(0, 10);
  assert.deepEqual(request.metadata.ownerReferences, [
    { apiVersion: 'v1', kind: 'Pod', name, uid, controller: true },
  ]);
  assert.deepEqual(request.metadata.labels, { 'bigfleet.lucy.sh/owned-by-pod': uid });
  assert.ok(request.metadata.name.length <= 63);
  assert.ok(request.metadata.name.startsWith('cr-pod-trainer-2026-05-01-a'));
  assert.ok(request.metadata.name.endsWith(`-${digest}`));
  assert.deepEqual(request.spec, {
    requirements: [{ key: TYPE, operator: 'In', values: ['a3-highgpu-8g'] }],
    resources: { 'nvidia.com/gpu': '8' },
    priority: 1_000_000,
    interruptionPenalty: '8192',
    reclamationPenalty: '65536',
  });
}

/** What an UpcomingNode went through, as a watch tells it; `gone` at the end. */
class Phases {
  readonly seen: string[] = [];
  readonly names = new Set<string>();
  readonly #watch: ApiWatch;
  readonly #read: Promise<void>;
  #isOver = false;

  constructor(watch: ApiWatch) {
    this.#watch = watch;
    this.#read = this.#follow();
  }

  static async follow(): Promise<Phases> {
    const { admin } = world.plane;
    const { metadata } = await admin.must(admin.get(UPCOMING_NODES));
    const { resourceVersion } = metadata as { resourceVersion: string };
    const query = `watch=true&resourceVersion=${resourceVersion}`;
    return new Phases(await admin.watch(`${UPCOMING_NODES}?${query}`));
  }

  until(phase: string): Promise<boolean> {
    return eventually(() => this.seen.includes(phase), {
      what: `the UpcomingNode is ${phase}`,
      details: () => `${this.seen.join(' ')}\n${world.tails()}`,
    });
  }

  async end(): Promise<void> {
    this.#isOver = true;
    this.#watch.end();
    await this.#read;
  }

  async #follow(): Promise<void> {
    try {
      for (;;) {
        const event = await this.#watch.next();
        if (event === undefined) return;
        const { metadata, status } = event.object as unknown as Stored;
        this.names.add(metadata.name);
        // Created first, its phase a moment later.
        const phase = event.type === 'DELETED' ? 'gone' : status?.['phase'];
        if (typeof phase === 'string' && this.seen.at(-1) !== phase) this.seen.push(phase);
      }
    } catch (error) {
      // The test ends its watch.
      if (!this.#isOver) throw error;
    }
  }
}

const ORDER = ['Provisioning', 'Launched', 'Registered', 'Ready', 'Draining', 'Drained', 'gone'];

test('1. Pending pod → CR → Acknowledged → UpcomingNode phases → Node → Pod Running; the Pod deleted → all gone', {
  skip,
}, async (t) => {
  world.explainFailures(t);
  const { plane, machines } = world;
  const { admin } = plane;
  await created('/apis/scheduling.k8s.io/v1/priorityclasses', {
    metadata: { name: 'ml-research' },
    value: 1_000_000,
  });
  await using shown = await startProcess({
    name: 'kubectl get pods -w',
    command: kubePrograms('controlPlane').kubectl,
    args: ['get', 'pods', '-w'],
    env: { KUBECONFIG: plane.adminKubeconfig },
  });
  const phases = await Phases.follow();
  const joins = machines.hold('configure');
  // Admission hears of a new class a moment later, and refuses its Pods until then.
  const pod = await eventually(
    () => created(podsPath(NAMESPACE), trainer('trainer-2026-05-01-a')),
    { what: 'a Pod of the new class' },
  );
  const request = await requestOf(pod);
  isDocumented(request, pod);
  assert.equal(request.metadata.generateName, 'cr-pod-trainer-2026-05-01-a-');
  await phases.until('Registered');
  const [coming] = await listAll(admin, UPCOMING_NODES);
  assert.match(coming?.metadata.name ?? '', /^un-[a-z0-9-]+$/);
  assert.equal(coming?.metadata.annotations?.['bigfleet.lucy.sh/machine-id'], 'a3-highgpu-8g/b/0');
  await shown.waitForLine(/^trainer-2026-05-01-a +0\/1 +Pending/);
  joins();
  await phases.until('Ready');
  const [bound] = await runningPods(world, NAMESPACE, 1);
  const [ready] = await eventually(
    async () => {
      const all = await listAll(admin, UPCOMING_NODES);
      return all[0]?.status?.['nodeRef'] !== undefined && all;
    },
    { what: 'the UpcomingNode names its Node' },
  );
  const { nodeRef, providerID, provisioningStartTime } = ready?.status ?? {};
  const node = await admin.must(admin.get(`/api/v1/nodes/${String(bound?.spec['nodeName'])}`));
  const { name, uid } = node['metadata'] as Stored['metadata'];
  assert.deepEqual(nodeRef, { kind: 'Node', name, uid });
  assert.equal((node['spec'] as Json)['providerID'], `test://${String(providerID)}`);
  assert.match(String(provisioningStartTime), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.equal((ready?.spec['resources'] as Json | undefined)?.['nvidia.com/gpu'], '8');
  const acknowledged = await eventually(
    async () => {
      const found = await requestOf(pod);
      return found.status?.['phase'] === 'Acknowledged' && found;
    },
    { what: 'the request is acknowledged' },
  );
  assert.match(
    String(acknowledged.status?.['acknowledgedAt']),
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
  );
  isDocumented(acknowledged, pod);
  await shown.waitForLine(/^trainer-2026-05-01-a +1\/1 +Running/);

  const release = machines.hold('drain');
  await admin.must(admin.delete(`${podsPath(NAMESPACE)}/trainer-2026-05-01-a`));
  await phases.until('Draining');
  release();
  await nothingIsLeft(world, NAMESPACE);
  await phases.end();
  assert.equal(phases.names.size, 1);
  const places = phases.seen.map((phase) => ORDER.indexOf(phase));
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
    phases.seen.join(' '),
  );
  assert.equal(phases.seen.at(-1), 'gone');
  assert.deepEqual(
    machines.acts.slice(0, 3).map((act) => act.split(' ')[0]),
    ['create', 'configure', 'drain'],
  );
});

test('1. The same for a Pod with a name of 253 characters', { skip }, async (t) => {
  world.explainFailures(t);
  const { admin } = world.plane;
  const long = 'trainer-2026-05-01-a-'.padEnd(253, '0123456789');
  const pod = await created(podsPath(NAMESPACE), trainer(long));
  const request = await requestOf(pod);
  isDocumented(request, pod);
  const { generateName } = request.metadata;
  assert.equal(generateName, `cr-pod-${long.slice(0, 245)}-`);
  assert.equal(generateName.length, 253);
  await runningPods(world, NAMESPACE, 1);
  await admin.must(admin.delete(`${podsPath(NAMESPACE)}/${long}`));
  await nothingIsLeft(world, NAMESPACE);
});

test('1. The kubectl commands of the founding documents, verbatim', { skip }, async (t) => {
  world.explainFailures(t);
  const { plane } = world;
  await created(requestsPath(NAMESPACE), {
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'CapacityRequest',
    metadata: { name: 'odd' },
    spec: {
      // Storable, and nothing that anybody can provision for.
      requirements: [{ key: 'generation', operator: 'Gt', values: ['7'] }],
      resources: { cpu: '1' },
      priority: 5,
    },
  });
  const served = await created(podsPath(NAMESPACE), trainer('trainer-2026-05-01-b'));
  await eventually(async () => (await requestOf(served)).status?.['phase'] === 'Acknowledged', {
    what: 'the other request is acknowledged',
  });
  const pending = [
    'get',
    'capacityrequests',
    '-A',
    '--field-selector=status.phase=Pending',
    '-o',
    `jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name}: priority={.spec.priority}{"\\n"}{end}`,
  ];
  await eventually(
    async () => (await plane.kubectl(pending)).output === 'default/odd: priority=5\n',
    { what: 'the request that nobody took in is found', details: () => world.tails() },
  );
  const hints = await plane.kubectl(['get', 'availablecapacity']);
  assert.match(hints.output, /^NAME +AVAILABILITY +AVAILABLE +COST\n(ac-[0-9a-f]{32} .*\n)+$/);
  await runningPods(world, NAMESPACE, 1);
  const all = await plane.kubectl(['get', 'pods,capacityrequests,upcomingnodes']);
  for (const kind of [
    'pod/',
    'capacityrequest.bigfleet.lucy.sh/',
    'upcomingnode.bigfleet.lucy.sh/',
  ]) {
    assert.ok(all.output.includes(kind), all.output);
  }
  // In place, as the guide upgrades them: objects stay.
  for (const plural of ['capacityrequests', 'upcomingnodes', 'availablecapacities']) {
    const file = `api/crd/bigfleet.lucy.sh_${plural}.yaml`;
    const path = join(import.meta.dirname, '../..', file);
    const applied = await plane.kubectl(['apply', '-f', path]);
    assert.equal(applied.code, 0, applied.output);
  }
  await runningPods(world, NAMESPACE, 1);
  assert.equal((await listAll(plane.admin, requestsPath(NAMESPACE))).length, 2);
});
