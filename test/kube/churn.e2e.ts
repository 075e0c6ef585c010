// Convergence of a whole installation under faults: shard, operator, pod controller and API server killed in an
// order that a seed gives, and both connections to the API server silent for two minutes, while Pods come and
// go. Nothing is lost, doubled, evicted against its budget or left behind.
//
// Protected Pods stand on more machines than they ask for. While no others are wanted, the shard therefore takes at
// least one of these machines back, whichever it chooses; its drain is refused before the faults and after them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { MachineState } from '@bigfleet/wire';
import { machinesOf } from '../shard/query.ts';
import { createTempDir, eventually, HANG_MS, monotonicMs, sleep } from '../toolkit/index.ts';
import type { Json, Reply } from './api.ts';
import { AuditLog } from './audit.ts';
import { skipWithout } from './binaries.ts';
import { demandIsWhole, listAll, type Stored } from './demand.ts';
import { oneRequestPerPod, podsPath, requestsPath } from './pods-and-requests.ts';
import { described, nothingIsLeft } from './session-view.ts';
import { startWorld, type World } from './world/world.ts';

const skip = skipWithout('controlPlane', 'helm');
const SEED = 13;
const NAMESPACE = 'churn';
const SETS = `/apis/apps/v1/namespaces/${NAMESPACE}/replicasets`;
const BUDGETS = `/apis/policy/v1/namespaces/${NAMESPACE}/poddisruptionbudgets`;
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const MOST_REPLICAS = 8;
const KEPT = 'kept';
const PROTECTED_COUNT = 6;
/** A machine holds five Pods, so that the protected ones ask for two. */
const PROTECTED_MACHINES = 3;
const PODS_PER_MACHINE = 5;
const CHURN_COUNT = 200;
/** The number: longer than the reflector's watchdog of 90 s. */
const SILENT_MS = 120_000;

const stack = new AsyncDisposableStack();
let audit: AuditLog;
let world: World;

before(async () => {
  if (skip !== false) return;
  audit = new AuditLog(stack.use(createTempDir('audit')).path);
  world = stack.use(
    await startWorld({
      controlPlane: { apiserverArgs: audit.apiserverArgs },
      offers: [
        { instanceType: 'std-4', zone: 'a', count: 8 },
        { instanceType: 'std-4', zone: 'b', count: 8 },
      ],
      operatorArgs: ['--qps=200', '--burst=400'],
      podControllerArgs: ['--qps=200', '--burst=400'],
    }),
  );
  await world.plane.namespace(NAMESPACE);
});

after(() => stack.disposeAsync());

/** mulberry32: the same faults in each run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** The API server may be down: asked until it answers as wanted. */
function insist(ask: () => Promise<Reply>, wanted: readonly number[]): Promise<Reply> {
  let seen = '';
  return eventually(
    async () => {
      const reply = await ask();
      seen = reply.text;
      return wanted.includes(reply.status) && reply;
    },
    { what: `an answer of ${wanted.join(' or ')}`, everyMs: 200, details: () => seen },
  );
}

function replicaSet(name: string, replicas: number): Json {
  const labels = { app: name };
  const resources = { requests: { cpu: '800m' } };
  return {
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: { 'bigfleet.lucy.sh/interruption-penalty': '1' } },
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [{ name: 'main', image: 'app:1', resources }],
        },
      },
    },
  };
}

function createSet(name: string, replicas: number): Promise<Reply> {
  return insist(() => world.plane.admin.create(SETS, replicaSet(name, replicas)), [201, 409]);
}

async function scale(name: string, replicas: number): Promise<void> {
  const { admin } = world.plane;
  await insist(() => admin.merge(`${SETS}/${name}`, { spec: { replicas } }), [200]);
}

/** Until its controller has made and unmade the Pods. */
async function settles(name: string): Promise<void> {
  await eventually(
    async () => {
      const { object } = await world.plane.admin.get(`${SETS}/${name}`);
      const { metadata, spec, status } = object as unknown as Stored;
      const { generation } = metadata as { generation?: number };
      return (
        generation !== undefined &&
        status?.['observedGeneration'] === generation &&
        status['replicas'] === spec['replicas']
      );
    },
    { what: `${name} has its Pods`, everyMs: 100, details: () => world.plane.tails() },
  );
}

async function podsOf(app: string): Promise<readonly Stored[]> {
  const { items } = await world.plane.admin.must(
    world.plane.admin.get(`${podsPath(NAMESPACE)}?labelSelector=app%3D${app}`),
  );
  return items as readonly Stored[];
}

async function run(app: string, count: number): Promise<readonly Stored[]> {
  let pods: readonly Stored[] = [];
  await eventually(
    async () => {
      pods = await podsOf(app);
      return pods.length === count && pods.every(isRunning);
    },
    { what: `${count} Pods of ${app} run`, everyMs: 100, details: () => described(pods) },
  );
  return pods;
}

/** Others fill each machine up, so that the next protected Pods get another one; then the others leave. */
async function spreadProtected(): Promise<readonly Stored[]> {
  const others = 'others';
  const perMachine = PROTECTED_COUNT / PROTECTED_MACHINES;
  for (const name of [KEPT, others]) await createSet(name, 0);
  for (let machines = 1; machines <= PROTECTED_MACHINES; machines++) {
    await scale(KEPT, machines * perMachine);
    await run(KEPT, machines * perMachine);
    await scale(others, machines * (PODS_PER_MACHINE - perMachine));
    await run(others, machines * (PODS_PER_MACHINE - perMachine));
  }
  await insist(
    () => world.plane.admin.delete(`${SETS}/${others}`, { propagationPolicy: 'Background' }),
    [200],
  );
  return run(KEPT, PROTECTED_COUNT);
}

/** Evictions of protected Pods that the API server answered with 429. */
function refusals(): number {
  const refused = audit
    .read()
    .filter(
      ({ act, path, code }) => act === 'create pods/eviction' && isOfKept(path) && code === 429,
    );
  return refused.length;
}

function isOfKept(path: string): boolean {
  return path.startsWith(`${podsPath(NAMESPACE)}/${KEPT}-`);
}

async function isRefusedAgain(): Promise<void> {
  const before = refusals();
  await eventually(() => refusals() > before, {
    what: 'an eviction of a protected Pod is refused',
    everyMs: 500,
    details: () => world.tails(),
  });
}

async function protectedPodsAre(before: readonly Stored[]): Promise<void> {
  const pods = await podsOf(KEPT);
  assert.deepEqual(uidsOf(pods), uidsOf(before), 'a protected Pod was evicted');
  assert.deepEqual(
    pods.filter(({ metadata }) => 'deletionTimestamp' in metadata),
    [],
  );
  const drained = world.machines.acts.filter((act) => act.startsWith('drain '));
  const nodes = new Set(drained.map((act) => world.machines.nodeNameOf(act.slice(6))));
  assert.deepEqual(
    nodesOf(before).filter((node) => nodes.has(node)),
    [],
    'a machine was drained under a protected Pod',
  );
}

/** Never two requests of one Pod, at whatever moment. */
async function noneIsDouble(): Promise<void> {
  const requests = await eventually(() => listAll(world.plane.admin, requestsPath(NAMESPACE)), {
    what: 'a list of the requests',
  });
  const owners = requests.map(({ metadata }) => metadata.labels?.['bigfleet.lucy.sh/owned-by-pod']);
  assert.equal(new Set(owners).size, owners.length, 'two requests of one Pod');
}

/** Scales sets up and down at random until so many Pods were asked for; returns how many. */
async function churn(random: (below: number) => number, isOver: () => boolean): Promise<number> {
  const replicas = new Map<string, number>(NAMES.map((name) => [name, 0]));
  let made = 0;
  for (const name of NAMES) await createSet(name, 0);
  while (made < CHURN_COUNT || !isOver()) {
    const name = NAMES[random(NAMES.length)] ?? '';
    const wanted = random(MOST_REPLICAS + 1);
    made += Math.max(0, wanted - (replicas.get(name) ?? 0));
    replicas.set(name, wanted);
    await scale(name, wanted);
    await settles(name);
    await noneIsDouble();
    if (made >= CHURN_COUNT) await sleep(500);
  }
  return made;
}

type Victim = 'shard' | 'operator' | 'podController' | 'apiserver';

async function kill(victim: Victim): Promise<void> {
  if (victim === 'apiserver') await world.plane.restartApiserver();
  else await world[victim].restart();
}

async function killEach(victims: readonly Victim[], random: (below: number) => number) {
  const left = [...victims];
  while (left.length > 0) {
    const [victim] = left.splice(random(left.length), 1);
    if (victim !== undefined) await kill(victim);
    await sleep(random(1_500));
  }
}

async function silence(random: (below: number) => number): Promise<void> {
  const untilMs = monotonicMs() + SILENT_MS;
  const proxies = Object.values(world.proxies);
  for (const proxy of proxies) proxy.fault('both', { silent: true });
  // What they do not hear of goes on.
  await killEach(['shard', 'apiserver', 'shard'], random);
  await sleep(Math.max(0, untilMs - monotonicMs()));
  await Promise.all(proxies.map((proxy) => proxy.heal()));
}

test('Shard, operator, pod controller and API server killed at random during 200 Pod churns, and each watch black-holed for two minutes', {
  skip,
}, async (t) => {
  world.explainFailures(t);
  const { admin } = world.plane;
  await insist(
    () =>
      admin.create(BUDGETS, {
        metadata: { name: KEPT },
        spec: { minAvailable: PROTECTED_COUNT, selector: { matchLabels: { app: KEPT } } },
      }),
    [201],
  );
  const kept = await spreadProtected();
  assert.equal(nodesOf(kept).length, PROTECTED_MACHINES);
  await isRefusedAgain();

  let isOver = false;
  const faults = async (): Promise<void> => {
    const random = randomOf(SEED);
    const all: readonly Victim[] = ['shard', 'operator', 'podController', 'apiserver'];
    await killEach(all, random);
    await silence(random);
    await killEach(all, random);
  };
  const [made] = await Promise.all([
    churn(randomOf(SEED + 1), () => isOver),
    faults().finally(() => {
      isOver = true;
    }),
  ]);
  await protectedPodsAre(kept);
  // The churned Pods would fill the machines of the protected ones, and none of these would be in excess.
  for (const name of NAMES) await scale(name, 0);
  await isRefusedAgain();
  await protectedPodsAre(kept);
  t.diagnostic(`${made} Pods churned, seed ${SEED}, ${refusals()} evictions refused`);
  await insist(() => admin.delete(`${BUDGETS}/${KEPT}`), [200]);

  for (const name of NAMES) await scale(name, 3);
  for (const name of NAMES) await settles(name);
  const wanted = NAMES.length * 3 + PROTECTED_COUNT;
  let pods: readonly Stored[] = [];
  // The drain that the budget held goes on: a Pod that it moves is there twice while it ends.
  await eventually(
    async () => {
      pods = await listAll(admin, podsPath(NAMESPACE));
      if (pods.length !== wanted || !pods.every(isRunning)) return false;
      return (await oneRequestPerPod(world.plane, NAMESPACE)).length === wanted;
    },
    {
      what: 'all wanted Pods run, with one request each',
      everyMs: 200,
      withinMs: 2 * HANG_MS,
      details: () => described(pods),
    },
  );
  await demandIsWhole(admin, world.shardAddress, world.clusterId);
  assert.deepEqual(await statesWith(MachineState.FAILED), []);

  for (const name of [...NAMES, KEPT]) {
    await insist(() => admin.delete(`${SETS}/${name}`, { propagationPolicy: 'Background' }), [200]);
  }
  await nothingIsLeft(world, NAMESPACE);
  let bound: readonly string[] = [];
  await eventually(
    async () => {
      bound = await statesWith(
        MachineState.CONFIGURING,
        MachineState.CONFIGURED,
        MachineState.DRAINING,
        MachineState.FAILED,
      );
      return bound.length === 0;
    },
    { what: 'no machine is bound', details: () => bound.join('\n') },
  );
});

function isRunning({ status }: Stored): boolean {
  return status?.['phase'] === 'Running';
}

function uidsOf(pods: readonly Stored[]): readonly string[] {
  return pods.map(({ metadata }) => metadata.uid).sort();
}

function nodesOf(pods: readonly Stored[]): readonly string[] {
  return Array.from(new Set(pods.map(({ spec }) => String(spec['nodeName']))));
}

async function statesWith(...states: readonly MachineState[]): Promise<readonly string[]> {
  const machines = Array.from((await machinesOf(world.shardAddress)).values());
  return machines
    .filter(({ state }) => states.includes(state))
    .map(({ machineId, state, lastError }) => `${machineId} ${state} ${lastError}`);
}
