// BigFleet comes to a large cluster that was there before it: Nodes by the thousand that kwok keeps alive, and Pods
// on them by the real scheduler. Operator and pod controller run with their charts' rights and memory. Every Pod has
// its request, those on static Nodes ask for nothing, and those that need the fleet get exactly their machines
// (kubernetes §7.2-18). SCALE=1 takes a multiple.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { eventually, HANG_MS } from '../toolkit/index.ts';
import { skipWithout } from './binaries.ts';
import { containerMemory, type ContainerMemory } from './charts/memory.ts';
import { demandIsWhole, listAll, type Stored } from './demand.ts';
import { type EtcdObject, putObjects } from './etcd-objects.ts';
import { KWOK_ANNOTATION, startKwok } from './kwok.ts';
import { each, oneRequestPerPod, pod, podsPath, requestsPath } from './pods-and-requests.ts';
import type { Service } from './world/service.ts';
import { startWorld, type World } from './world/world.ts';

const skip = skipWithout('controlPlane', 'helm', 'kwok');
const IS_FULL = process.env['SCALE'] === '1';
const NODES = IS_FULL ? 5_000 : 1_000;
const STATIC_PODS = IS_FULL ? 20_000 : 2_000;
const LEAVING_PODS = STATIC_PODS / 10;
const FLEET_PODS = 40;
/** Ten fill a machine of the fleet. */
const FLEET_POD_MILLIS = 400;
const FLEET_MACHINES = 4;
const BUDGET = ['--qps=1000', '--burst=2000'];
const FOREIGN = 'bigfleet.lucy.sh/foreign-node';
const OWNED_BY_POD = 'bigfleet.lucy.sh/owned-by-pod';
const EXCLUDED = 'bigfleet.lucy.sh/excluded';
const NAMESPACE = 'large';

const stack = new AsyncDisposableStack();
let world: World;
let memory: { readonly operator: ContainerMemory; readonly podController: ContainerMemory };

before(async () => {
  if (skip !== false) return;
  memory = {
    operator: await containerMemory('bigfleet-operator'),
    podController: await containerMemory('bigfleet-unschedulable-pod-controller'),
  };
  world = stack.use(
    await startWorld({
      isIdle: true,
      // A busy machine must not make a Node look lost.
      controlPlane: { qps: 1_000, nodeGraceSeconds: 400 },
      operatorArgs: BUDGET,
      podControllerArgs: BUDGET,
      operatorEnv: memory.operator.env,
      podControllerEnv: memory.podController.env,
    }),
  );
  await world.plane.namespace(NAMESPACE);
  await putObjects(
    world.plane,
    Array.from({ length: NODES }, (_, at) => staticNode(at)),
  );
  stack.use(await startKwok(world.plane));
});

after(() => stack.disposeAsync());

/** Older than the time for which the pod controller holds its judgement of a new Node back. */
function staticNode(at: number): EtcdObject {
  const name = `static-${at}`;
  const resources = { cpu: '16', memory: '64Gi', pods: '110' };
  const object = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: randomUUID(),
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: KWOK_ANNOTATION,
      labels: { 'kubernetes.io/hostname': name },
    },
    spec: {},
    status: { capacity: resources, allocatable: resources },
  };
  return { key: `minions/${name}`, object };
}

async function createStatic(): Promise<void> {
  const { admin } = world.plane;
  const numbers = Array.from({ length: STATIC_PODS }, (_, at) => at);
  await each(numbers, (at) =>
    admin.must(admin.create(podsPath(NAMESPACE), pod(`static-${at}`, 1 + (at % 100)))),
  );
}

/** How many objects are there, and whether all have that phase: lists of thousands are for the last look. */
async function areAll(path: string, count: number, phase: string): Promise<boolean> {
  const { admin } = world.plane;
  const page = await admin.must(admin.get(`${path}?limit=1`));
  const { remainingItemCount = 0 } = page['metadata'] as { remainingItemCount?: number };
  if ((page['items'] as unknown[]).length + remainingItemCount !== count) return false;
  const others = await admin.must(
    admin.get(`${path}?limit=1&fieldSelector=status.phase!=${phase}`),
  );
  return (others['items'] as unknown[]).length === 0;
}

async function podsRun(count: number): Promise<readonly Stored[]> {
  await eventually(() => areAll(podsPath(NAMESPACE), count, 'Running'), {
    what: `${count} Pods run`,
    everyMs: 1_000,
    withinMs: 5 * HANG_MS,
  });
  return listAll(world.plane.admin, podsPath(NAMESPACE));
}

/** Exactly one request of each Pod, marked and told so where the Pod is on a static Node. */
async function requestsAreWhole(pods: readonly Stored[]): Promise<void> {
  const within = { everyMs: 1_000, withinMs: 5 * HANG_MS };
  await eventually(() => areAll(requestsPath(NAMESPACE), pods.length, 'Acknowledged'), {
    what: `${pods.length} requests are acknowledged`,
    details: () => world.tails(),
    ...within,
  });
  const foreign = pods.filter(isOnStatic).map(({ metadata }) => metadata.uid);
  let requests: readonly Stored[] = [];
  await eventually(
    async () => {
      requests = await oneRequestPerPod(world.plane, NAMESPACE);
      const told = requests.filter(
        ({ metadata }) => metadata.annotations?.[EXCLUDED] === 'foreign-node',
      );
      return isDeepStrictEqual(ownersOf(told), foreign.toSorted());
    },
    { what: 'exactly the requests on static Nodes are excluded', ...within },
  );
  const marked = requests.filter(({ metadata }) => metadata.labels?.[FOREIGN] === 'true');
  assert.deepEqual(ownersOf(marked), foreign.toSorted());
}

function ownersOf(requests: readonly Stored[]): readonly string[] {
  return requests.map(({ metadata }) => metadata.labels?.[OWNED_BY_POD] ?? '').sort();
}

function isOnStatic({ spec }: Stored): boolean {
  return String(spec['nodeName']).startsWith('static-');
}

/** The operator's cache, by its size. What it holds is what it tells the shard, which is compared. */
async function cachesEqualList(count: number) {
  await eventually(
    async () => (await world.operator.metric('bigfleet_operator_capacity_requests')) === count,
    { what: `the operator has ${count} requests`, details: () => world.tails() },
  );
  return demandIsWhole(world.plane.admin, world.shardAddress, world.clusterId);
}

test(`A cluster of ${NODES} static Nodes and ${STATIC_PODS} Pods: one CR per Pod, none asks for a machine`, {
  skip,
}, async (t) => {
  world.explainFailures(t);
  await createStatic();
  const pods = await podsRun(STATIC_PODS);
  assert.ok(pods.every(isOnStatic));
  await Promise.all([world.shard.start(), world.operator.start(), world.podController.start()]);

  await requestsAreWhole(pods);
  assert.deepEqual(await cachesEqualList(STATIC_PODS), []);
  assert.deepEqual(world.machines.acts, []);
});

test('Pods that need the fleet get their machines, while static Pods leave beside them', {
  skip,
}, async (t) => {
  world.explainFailures(t);
  const { admin } = world.plane;
  const leaving = Array.from({ length: LEAVING_PODS }, (_, at) => `static-${at}`);
  const onFleet = { nodeSelector: { 'node.kubernetes.io/instance-type': 'std-4' } };
  const fleet = Array.from({ length: FLEET_PODS }, (_, at) =>
    pod(`fleet-${at}`, FLEET_POD_MILLIS, onFleet),
  );
  await each(fleet, (one) => admin.must(admin.create(podsPath(NAMESPACE), one)));
  await each(leaving, (name) => admin.must(admin.delete(`${podsPath(NAMESPACE)}/${name}`)));

  const pods = await podsRun(STATIC_PODS - LEAVING_PODS + FLEET_PODS);
  assert.equal(pods.filter((one) => !isOnStatic(one)).length, FLEET_PODS);
  await requestsAreWhole(pods);
  const needs = await cachesEqualList(pods.length);
  assert.deepEqual(
    needs.map(({ resources, minUnit }) => [resources['cpu'], minUnit['cpu']]),
    [[String((FLEET_PODS * FLEET_POD_MILLIS) / 1_000), `${FLEET_POD_MILLIS}m`]],
  );
  const bought = world.machines.acts.filter((act) => act.startsWith('configure '));
  assert.equal(bought.length, FLEET_MACHINES);
});

test('Both processes stay within the memory of their charts', { skip }, async (t) => {
  world.explainFailures(t);
  const inMib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  const check = async (service: Service, { limitBytes }: ContainerMemory): Promise<void> => {
    const used = await service.metric('process_resident_memory_bytes');
    assert.ok(used > 0 && used < limitBytes, `${service.name}: ${inMib(used)}`);
    t.diagnostic(`${service.name}: ${inMib(used)} resident of ${inMib(limitBytes)}`);
  };
  await check(world.operator, memory.operator);
  await check(world.podController, memory.podController);
});
