// Convergence of a whole installation under faults: shard, operator, pod controller and API server killed in an
// order that a seed gives, and both connections to the API server silent for two minutes, while Pods come and
// go. Nothing is lost, doubled, evicted against its budget or left behind.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { MachineState } from '@bigfleet/wire';
import { machinesOf } from '../shard/query.ts';
import { eventually, monotonicMs, sleep } from '../toolkit/index.ts';
import type { Json, Reply } from './api.ts';
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
const PROTECTED_COUNT = 6;
const CHURN_COUNT = 200;
/** The number: longer than the reflector's watchdog of 90 s. */
const SILENT_MS = 120_000;

let world: World;

before(async () => {
  if (skip !== false) return;
  world = await startWorld({
    offers: [
      { instanceType: 'std-4', zone: 'a', count: 7 },
      { instanceType: 'std-4', zone: 'b', count: 7 },
    ],
    operatorArgs: ['--qps=200', '--burst=400'],
    podControllerArgs: ['--qps=200', '--burst=400'],
  });
  await world.plane.namespace(NAMESPACE);
});

after(async () => {
  await world?.[Symbol.asyncDispose]();
});

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

async function protectedPods(): Promise<readonly Stored[]> {
  const { items } = await world.plane.admin.must(
    world.plane.admin.get(`${podsPath(NAMESPACE)}?labelSelector=app%3Dkept`),
  );
  return items as readonly Stored[];
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
        metadata: { name: 'kept' },
        spec: { minAvailable: PROTECTED_COUNT, selector: { matchLabels: { app: 'kept' } } },
      }),
    [201],
  );
  await createSet('kept', PROTECTED_COUNT);
  await settles('kept');
  const kept = uidsOf(await protectedPods());
  assert.equal(kept.length, PROTECTED_COUNT);

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
  t.diagnostic(`${made} Pods churned, seed ${SEED}`);

  for (const name of NAMES) await scale(name, 3);
  for (const name of NAMES) await settles(name);
  const wanted = NAMES.length * 3 + PROTECTED_COUNT;
  let pods: readonly Stored[] = [];
  await eventually(
    async () => {
      pods = await listAll(admin, podsPath(NAMESPACE));
      return pods.length === wanted && pods.every(isRunning);
    },
    { what: 'all wanted Pods run', everyMs: 200, details: () => described(pods) },
  );
  const requests = await oneRequestPerPod(world.plane, NAMESPACE);
  assert.equal(requests.length, wanted);
  await demandIsWhole(admin, world.shardAddress, world.clusterId);
  const left = await protectedPods();
  assert.deepEqual(uidsOf(left), kept, 'a protected Pod was evicted');
  assert.deepEqual(
    left.filter(({ metadata }) => 'deletionTimestamp' in metadata),
    [],
  );
  assert.deepEqual(await statesWith(MachineState.FAILED), []);

  for (const name of [...NAMES, 'kept']) {
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

async function statesWith(...states: readonly MachineState[]): Promise<readonly string[]> {
  const machines = Array.from((await machinesOf(world.shardAddress)).values());
  return machines
    .filter(({ state }) => states.includes(state))
    .map(({ machineId, state, lastError }) => `${machineId} ${state} ${lastError}`);
}
