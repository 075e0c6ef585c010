// Machines taken back from a real cluster: eviction under disruption budgets, before the provider's Drain and
// never instead of it, by the operator that began or by the one that came after it (kubernetes §4.3).
//
// The Pods in the way live in a namespace that the pod controller leaves out: they ask for nothing, so that
// the machine under them is in excess as soon as the one Pod that asked for it is gone.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startOperator, type TestOperator } from '../shard/shard-process.ts';
import { eventually } from '../toolkit/index.ts';
import type { Json } from './api.ts';
import { skipWithout } from './binaries.ts';
import type { Stored } from './demand.ts';
import { pod, podsPath } from './pods-and-requests.ts';
import { startWorld, type World } from './world/world.ts';

const skip = skipWithout('controlPlane', 'helm');
const OURS = '/apis/bigfleet.lucy.sh/v1alpha1';
const UPCOMING = `${OURS}/upcomingnodes`;
const GUESTS = 'guests';
const RECLAIM = 'bigfleet.lucy.sh/reclaim';
/** A machine that exists: its id is no label value and not the name of its Node. */
const MACHINE = 'std-4/a/0';
const NODE = 'host-std-4-a-0';

let world: World;

before(async () => {
  if (skip !== false) return;
  world = await startWorld({
    offers: [{ instanceType: 'std-4', zone: 'a', count: 1 }],
    podControllerArgs: [`--exclude-namespaces=${GUESTS}`],
  });
  await world.plane.namespace(GUESTS);
});

after(async () => {
  await world?.[Symbol.asyncDispose]();
});

function ask(reply: ReturnType<World['plane']['admin']['get']>): Promise<Json> {
  return world.plane.admin.must(reply);
}

async function stored(path: string): Promise<Stored | undefined> {
  const { status, object } = await world.plane.admin.get(path);
  return status === 200 ? (object as unknown as Stored) : undefined;
}

/** Named by the machine, whose id is no name. */
async function upcoming(): Promise<Stored | undefined> {
  const { items } = (await ask(world.plane.admin.get(UPCOMING))) as unknown as { items: Stored[] };
  return items[0];
}

async function isRunning(path: string): Promise<boolean> {
  const found = await stored(path);
  return found?.status?.['phase'] === 'Running' && found.spec['nodeName'] === NODE;
}

/** The Pod that the machine is bought for; resolves when it runs there. */
async function asks(namespace: string, more: Json = {}): Promise<string> {
  const path = `${podsPath(namespace)}/asks`;
  await ask(world.plane.admin.create(podsPath(namespace), pod('asks', 2_500, more)));
  await eventually(() => isRunning(path), { what: 'the Pod that asks runs' });
  return path;
}

/** A Pod that nobody buys for; resolves when it runs on the machine. */
async function guest(name: string, labels: Json = {}): Promise<string> {
  const path = `${podsPath(GUESTS)}/${name}`;
  const made = pod(name, 100, { nodeSelector: { 'node.kubernetes.io/instance-type': 'std-4' } });
  await ask(
    world.plane.admin.create(podsPath(GUESTS), {
      ...made,
      metadata: { name, labels: { ...labels } },
    }),
  );
  await eventually(() => isRunning(path), { what: `${name} runs` });
  return path;
}

async function protects(name: string): Promise<string> {
  const path = `/apis/policy/v1/namespaces/${GUESTS}/poddisruptionbudgets`;
  const spec = { minAvailable: 1, selector: { matchLabels: { app: name } } };
  await ask(world.plane.admin.create(path, { metadata: { name }, spec }));
  await eventually(
    async () => (await stored(`${path}/${name}`))?.status?.['currentHealthy'] === 1,
    { what: 'the budget is observed' },
  );
  return `${path}/${name}`;
}

function drains(): number {
  return world.machines.acts.filter((act) => act === `drain ${MACHINE}`).length;
}

async function isDraining(): Promise<boolean> {
  const node = await stored(`/api/v1/nodes/${NODE}`);
  const isMarked = node?.metadata.annotations?.[RECLAIM] !== undefined;
  return isMarked && node?.spec['unschedulable'] === true;
}

async function isGone(): Promise<void> {
  await eventually(async () => (await stored(`/api/v1/nodes/${NODE}`)) === undefined, {
    what: 'the Node is gone',
  });
  await eventually(async () => (await upcoming()) === undefined, {
    what: 'the UpcomingNode is gone',
  });
}

/** The operator counts the refusal, so that "nothing happened yet" is not taken for it. */
async function isBlocked(): Promise<void> {
  const refused = 'bigfleet_operator_evictions_total{outcome="blocked_pdb"}';
  await eventually(async () => (await world.operator.metric(refused)) > 0, {
    what: 'an eviction is refused by the budget',
  });
}

test('7, 11, 12. a budget holds the drain until it is loosened, then the machine goes and comes back schedulable', {
  skip,
}, async (t) => {
  world.explainFailures(t);
  const { admin } = world.plane;
  const namespace = await world.plane.namespace('loosened');
  const asking = await asks(namespace);
  await eventually(async () => linkOf(await upcoming()) === NODE, {
    what: 'the link between machine and Node is found by its label',
  });
  const daemons = `/apis/apps/v1/namespaces/${GUESTS}/daemonsets`;
  const template = {
    metadata: { labels: { app: 'daemon' } },
    spec: { containers: [{ name: 'main', image: 'app:1' }] },
  };
  const spec = { selector: { matchLabels: { app: 'daemon' } }, template };
  await ask(admin.create(daemons, { metadata: { name: 'daemon' }, spec }));
  const mirror = `${podsPath(GUESTS)}/mirror`;
  const annotations = { 'kubernetes.io/config.mirror': 'x', 'kubernetes.io/config.hash': 'x' };
  await ask(
    admin.create(podsPath(GUESTS), {
      metadata: { name: 'mirror', annotations },
      spec: { nodeName: NODE, containers: [{ name: 'main', image: 'app:1' }] },
    }),
  );
  const bare = await guest('bare');
  const covered = await guest('covered', { app: 'covered' });
  const budget = await protects('covered');
  const daemonPods = async (): Promise<readonly Stored[]> => {
    const path = `${podsPath(GUESTS)}?labelSelector=app%3Ddaemon`;
    return ((await ask(admin.get(path))) as unknown as { items: Stored[] }).items;
  };
  await eventually(async () => (await daemonPods())[0]?.status?.['phase'] === 'Running', {
    what: 'the DaemonSet runs',
  });

  await ask(admin.delete(asking));
  await eventually(isDraining, { what: 'the Node is cordoned and marked' });
  await eventually(async () => (await stored(bare)) === undefined, {
    what: 'a Pod without a controller is evicted',
  });
  await isBlocked();
  assert.equal((await upcoming())?.status?.['phase'], 'Draining');
  assert.equal(drains(), 0, 'the provider drains after the eviction, not beside it');
  assert.equal(await isRunning(covered), true);
  assert.equal(await isRunning(mirror), true, 'a mirror Pod survives');
  const [daemon] = await daemonPods();
  assert.equal(daemon?.metadata['deletionTimestamp' as 'name'], undefined, 'so does a DaemonSet’s');

  await ask(admin.delete(budget));
  await eventually(async () => (await stored(covered)) === undefined, { what: 'it is evicted' });
  await isGone();
  assert.equal(drains(), 1);
  await ask(admin.delete(`${daemons}/daemon`));

  await asks(namespace);
  const node = await stored(`/api/v1/nodes/${NODE}`);
  assert.deepEqual(
    [node?.spec['unschedulable'], node?.metadata.annotations?.[RECLAIM]],
    [undefined, undefined],
    'the same machine under the same name takes Pods again',
  );
  await ask(admin.delete(asking));
  await isGone();
});

test('8. an operator that is killed in a drain goes on with it', { skip }, async (t) => {
  world.explainFailures(t);
  const { admin } = world.plane;
  const namespace = await world.plane.namespace('resumed');
  const before = drains();
  const asking = await asks(namespace);
  const covered = await guest('resumed', { app: 'resumed' });
  const budget = await protects('resumed');
  await ask(admin.delete(asking));
  await eventually(isDraining, { what: 'the Node is cordoned and marked' });
  await world.operator.kill();
  await ask(admin.delete(budget));
  await world.operator.start();
  await eventually(async () => (await stored(covered)) === undefined, {
    what: 'the next operator evicts',
  });
  await isGone();
  assert.equal(drains(), before + 1);
});

/** A cluster beside ours with a need so far above that its preemption has ten seconds of grace. */
async function preempting(name: string): Promise<TestOperator> {
  const namespace = await world.plane.namespace(name);
  await asks(namespace);
  await guest(name, { app: name });
  await protects(name);
  const rival = startOperator(`rival-${name}`, () => world.shardAddress);
  rival.cluster.want(4, 1_000_000);
  await eventually(isDraining, { what: 'the Node is cordoned and marked' });
  // The drain that has begun goes on. The rival is not to get the machine: its blob names no cluster, and
  // the stand-in would join ours with it.
  rival.cluster.want(0);
  return rival;
}

/** Those leave that were in the rival's way. */
async function over(name: string): Promise<void> {
  const { admin } = world.plane;
  await ask(admin.delete(`/apis/policy/v1/namespaces/${GUESTS}/poddisruptionbudgets/${name}`));
  for (const path of [`${podsPath(name)}/asks`, `${podsPath(GUESTS)}/${name}`]) {
    await admin.delete(path, { gracePeriodSeconds: 0 });
  }
  await isGone();
}

test('12. without an operator the provider drains when the grace is over', { skip }, async (t) => {
  world.explainFailures(t);
  const count = drains();
  await using _ = await preempting('silent');
  await world.operator.kill();
  assert.equal(drains(), count, 'not before');
  await eventually(() => drains() === count + 1, { what: 'the provider drains' });
  await world.operator.start();
  await over('silent');
});

test('7. a budget that never loosens ends the drain at its deadline', { skip }, async (t) => {
  world.explainFailures(t);
  const count = drains();
  // Before the drain: its outcome stands for as long as the provider takes.
  const watch = await world.plane.admin.watch(`${UPCOMING}?watch=true`);
  await using _ = await preempting('deadline');
  const { object } = await watch.until(({ object: { status } }) => phaseOf(status) === 'Failed');
  watch.end();
  assert.match(String((object['status'] as Json)['lastError']), /pods remaining: 1/);
  await eventually(() => drains() === count + 1, { what: 'the provider drains' });
  await over('deadline');
});

function linkOf(found: Stored | undefined): unknown {
  return (found?.status?.['nodeRef'] as Json | undefined)?.['name'];
}

function phaseOf(status: unknown): unknown {
  return (status as Json | undefined)?.['phase'];
}
