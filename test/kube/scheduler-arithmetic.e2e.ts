// The vector of a CapacityRequest is what kube-scheduler asks of a node for that Pod, to the unit: a machine
// bought for it runs the Pod, and none that is one unit smaller in any dimension does.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parseQuantity, printQuantity } from '@bigfleet/base';
import { type ClusterProcess, start } from '../operator/cluster-processes.ts';
import { eventually } from '../toolkit/index.ts';
import type { Json } from './api.ts';
import { skipWithout } from './binaries.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { type RunningKubelets, startKubelets } from './world/kubelets.ts';

const skip = skipWithout('controlPlane');
const SANDBOX = 'sandboxed';
const ROW_LABEL = 'test.bigfleet.lucy.sh/row';
const NANOS_PER_UNIT = 1_000_000_000n;
/** The scheduler counts processor time in thousandths, everything else in whole units. */
const NANOS_PER_MILLI = 1_000_000n;

let plane: ControlPlane;
let nodes: RunningKubelets;
let controller: ClusterProcess;

before(async () => {
  if (skip !== false) return;
  plane = await startControlPlane();
  nodes = await startKubelets(plane);
  controller = await start('pod-controller', [`--kubeconfig=${plane.adminKubeconfig}`]);
  const overhead = { podFixed: { cpu: '37m', memory: '19Mi' } };
  await plane.admin.must(
    plane.admin.create('/apis/node.k8s.io/v1/runtimeclasses', {
      metadata: { name: SANDBOX },
      handler: SANDBOX,
      overhead,
    }),
  );
});

after(async () => {
  await controller?.[Symbol.asyncDispose]();
  await nodes?.[Symbol.asyncDispose]();
  await plane?.[Symbol.asyncDispose]();
});

type Amounts = Readonly<Record<string, string>>;

interface Row {
  readonly name: string;
  readonly spec: Json;
  /** By hand, from the rules of the scheduler. */
  readonly vector: Amounts;
}

function container(name: string, requests: Amounts, limits: Amounts = {}): Json {
  return { name, image: 'app:1', resources: { requests, limits } };
}

function sidecar(name: string, requests: Amounts): Json {
  return { ...container(name, requests), restartPolicy: 'Always' };
}

const ROWS: readonly Row[] = [
  {
    name: 'containers-add-up',
    spec: {
      containers: [
        container('a', { cpu: '250m', memory: '100Mi' }),
        container('b', { cpu: '1', memory: '1G', 'ephemeral-storage': '3Gi' }),
      ],
    },
    vector: { cpu: '1250m', 'ephemeral-storage': '3Gi', memory: '1104857600' },
  },
  {
    name: 'init-peak-per-dimension',
    spec: {
      initContainers: [
        container('unpack', { cpu: '2', memory: '64Mi' }),
        container('check', { cpu: '1500m', memory: '96Mi' }),
      ],
      containers: [container('main', { cpu: '300m', memory: '512Mi' })],
    },
    vector: { cpu: '2', memory: '512Mi' },
  },
  {
    name: 'sidecars-run-beside',
    spec: {
      initContainers: [
        sidecar('proxy', { cpu: '110m', memory: '60Mi' }),
        sidecar('log', { cpu: '5m' }),
      ],
      containers: [container('main', { cpu: '400m', memory: '200Mi' })],
    },
    vector: { cpu: '515m', memory: '260Mi' },
  },
  {
    name: 'init-after-sidecar-stands-on-it',
    spec: {
      initContainers: [
        container('early', { cpu: '900m' }),
        sidecar('proxy', { cpu: '200m' }),
        container('late', { cpu: '800m' }),
      ],
      containers: [container('main', { cpu: '100m' })],
    },
    vector: { cpu: '1' },
  },
  {
    name: 'sidecar-after-init-does-not',
    spec: {
      initContainers: [container('early', { cpu: '900m' }), sidecar('proxy', { cpu: '200m' })],
      containers: [container('main', { cpu: '100m' })],
    },
    vector: { cpu: '900m' },
  },
  {
    name: 'overhead-of-the-runtime-class',
    spec: {
      runtimeClassName: SANDBOX,
      initContainers: [container('unpack', { cpu: '1' })],
      containers: [container('main', { cpu: '500m', memory: '100Mi' })],
    },
    vector: { cpu: '1037m', memory: '119Mi' },
  },
  {
    name: 'gpu-as-a-limit-only',
    spec: { containers: [container('main', { cpu: '100m' }, { 'nvidia.com/gpu': '2' })] },
    vector: { cpu: '100m', 'nvidia.com/gpu': '2' },
  },
  {
    name: 'limits-only',
    spec: {
      initContainers: [container('unpack', {}, { memory: '300Mi' })],
      containers: [container('main', { cpu: '10m' }, { cpu: '700m', memory: '128Mi' })],
    },
    vector: { cpu: '10m', memory: '300Mi' },
  },
  {
    name: 'huge-pages',
    spec: {
      containers: [container('main', { cpu: '1m', memory: '1Mi' }, { 'hugepages-2Mi': '6Mi' })],
    },
    vector: { cpu: '1m', 'hugepages-2Mi': '6Mi', memory: '1Mi' },
  },
  {
    name: 'fractions-round-once',
    spec: {
      containers: [
        container('a', { cpu: '0.0305', memory: '1500m' }),
        container('b', { cpu: '100u', memory: '1048576.5' }),
      ],
    },
    // The API server rounds each processor request up to thousandths when it stores the Pod.
    vector: { cpu: '32m', memory: '1048578' },
  },
  {
    name: 'pod-level-over-containers',
    spec: {
      resources: { requests: { cpu: '800m', memory: '256Mi' } },
      initContainers: [container('unpack', { cpu: '600m' }), sidecar('proxy', { memory: '16Mi' })],
      containers: [container('main', { cpu: '100m', memory: '32Mi' }), container('free', {})],
    },
    vector: { cpu: '800m', memory: '256Mi' },
  },
  {
    name: 'pod-level-for-one-resource',
    spec: {
      resources: { requests: { cpu: '450m' } },
      containers: [
        container('a', { cpu: '100m', memory: '64Mi' }),
        container('b', { memory: '64Mi', 'ephemeral-storage': '1Gi' }),
      ],
    },
    vector: { cpu: '450m', 'ephemeral-storage': '1Gi', memory: '128Mi' },
  },
  {
    name: 'pod-level-limits-only',
    spec: {
      resources: { limits: { cpu: '900m', memory: '96Mi' } },
      containers: [container('main', { cpu: '100m' })],
    },
    vector: { cpu: '100m', memory: '96Mi' },
  },
  {
    name: 'pod-level-with-overhead',
    spec: {
      runtimeClassName: SANDBOX,
      resources: { requests: { cpu: '500m', memory: '128Mi' } },
      containers: [container('main', { cpu: '200m' }, { 'nvidia.com/gpu': '1' })],
    },
    vector: { cpu: '537m', memory: '147Mi', 'nvidia.com/gpu': '1' },
  },
];

for (const row of ROWS) {
  test(`5. A node sized to our vector schedules the Pod, one unit smaller does not: ${row.name}`, {
    skip,
  }, async (t) => {
    plane.explainFailures(t);
    const namespace = await plane.namespace(row.name);
    // Sized by the request of a twin that has nowhere to go: the Pod itself is judged once, against all.
    await createPod(namespace, 'twin', { ...row.spec, nodeSelector: { [ROW_LABEL]: 'none' } });
    const vector = await vectorOf(namespace, 'twin');
    assert.deepEqual(vector, row.vector);
    for (const [at, name] of Object.keys(vector).entries()) {
      await join(row, `${row.name}-small-${at}`, { ...vector, [name]: oneUnitLess(vector, name) });
    }
    await createPod(namespace, 'real', { ...row.spec, nodeSelector: { [ROW_LABEL]: row.name } });
    let refusal = '';
    await eventually(
      async () => {
        refusal = refusalOf(await podOf(namespace, 'real'));
        return Object.keys(vector).every((name) => refusal.includes(`1 Insufficient ${name}`));
      },
      {
        what: 'each smaller node is refused for what it lacks',
        details: () => `vector ${JSON.stringify(vector)}, the scheduler says: ${refusal}`,
      },
    );
    assert.deepEqual(await vectorOf(namespace, 'real'), vector);
    await join(row, `${row.name}-exact`, vector);
    const bound = await eventually(async () => nodeOf(await podOf(namespace, 'real')), {
      what: 'the Pod is bound',
      details: () => `vector ${JSON.stringify(vector)}`,
    });
    assert.equal(bound, `${row.name}-exact`);
  });
}

async function createPod(namespace: string, name: string, spec: Json): Promise<void> {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  await plane.admin.must(plane.admin.create(pods, { metadata: { name }, spec }));
}

function podOf(namespace: string, name: string): Promise<Json> {
  return plane.admin.must(plane.admin.get(`/api/v1/namespaces/${namespace}/pods/${name}`));
}

/** Of the request that the controller wrote. */
async function vectorOf(namespace: string, pod: string): Promise<Amounts> {
  const path = `/apis/bigfleet.lucy.sh/v1alpha1/namespaces/${namespace}/capacityrequests`;
  const prefix = `cr-pod-${pod}-`;
  return eventually(
    async () => {
      const { items } = (await plane.admin.must(plane.admin.get(path))) as unknown as {
        items: { metadata: { name: string }; spec: { resources: Amounts } }[];
      };
      return items.find(({ metadata }) => metadata.name.startsWith(prefix))?.spec.resources;
    },
    { what: `the request of ${pod}`, details: () => controller.process.output.text() },
  );
}

async function join(row: Row, name: string, allocatable: Amounts): Promise<void> {
  const machine = { name, labels: { [ROW_LABEL]: row.name }, allocatable };
  const joined = await nodes.kubelets.join(machine, '');
  assert.equal(joined.kind, 'joined', JSON.stringify(joined));
  // A new Node is tainted until the controller manager has seen it Ready.
  await eventually(async () => !isTainted(await plane.admin.get(`/api/v1/nodes/${name}`)), {
    what: `${name} takes Pods`,
  });
}

function isTainted({ object }: { readonly object: Json }): boolean {
  return ((object['spec'] as { taints?: unknown[] }).taints ?? []).length > 0;
}

function oneUnitLess(vector: Amounts, name: string): string {
  const parsed = parseQuantity(vector[name] ?? '');
  assert.ok(parsed.ok);
  const unit = name === 'cpu' ? NANOS_PER_MILLI : NANOS_PER_UNIT;
  return printQuantity({ ...parsed.value, nanos: parsed.value.nanos - unit });
}

interface PodStatus {
  readonly conditions?: readonly {
    readonly type: string;
    readonly reason?: string;
    readonly message?: string;
  }[];
}

function refusalOf({ status }: Json): string {
  const found = (status as PodStatus).conditions?.find(({ type }) => type === 'PodScheduled');
  return found?.reason === 'Unschedulable' ? (found.message ?? '') : '';
}

function nodeOf({ spec }: Json): string | undefined {
  return (spec as { nodeName?: string }).nodeName;
}
