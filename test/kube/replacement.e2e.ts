// Either side of a session killed, restarted or replaced on a real cluster while machines are on their way, and
// templates that cannot serve what is asked: nothing is lost, bought twice or left behind, and no machine
// fails for a fault that is not its own.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { JOIN_TEMPLATE } from '@bigfleet/kube/testing';
import { MachineState } from '@bigfleet/wire';
import { launch, start } from '../operator/cluster-processes.ts';
import { machinesOf } from '../shard/query.ts';
import { eventually } from '../toolkit/index.ts';
import type { Json } from './api.ts';
import { skipWithout } from './binaries.ts';
import { demandIsWhole, type Stored } from './demand.ts';
import { each, pod, podsPath } from './pods-and-requests.ts';
import {
  described,
  isConnected,
  nothingIsLeft,
  rollupsGoOn,
  runningPods,
  sessionCount,
  upcomingNodes,
} from './session-view.ts';
import { startWorld, type World } from './world/world.ts';

const skip = skipWithout('controlPlane', 'helm');
const RECONNECTS = 'bigfleet_operator_session_reconnects_total';
const REISSUED = 'bigfleet_shard_bootstrap_reissued_total';
const INTERVAL = '--rollup-interval=1s';
/** A holder gives it up after two thirds without a renewal: longer than a busy machine stalls. */
const LEASE_DURATION = '--lease-duration=30s';

/** Serves every key but two: `team` is refused by its owner, `site` by a mistake. */
const TEMPLATE = `${JOIN_TEMPLATE}
{{- range .Requirements }}
{{- if eq .Key "team" }}{{ fail "no userdata for team nodes" }}{{ end }}
{{- if eq .Key "site" }}{{ .Site }}{{ end }}
{{- end }}
`;
const ALLOWED = ['node.kubernetes.io/instance-type', 'team', 'site'];

let world: World;

before(async () => {
  if (skip !== false) return;
  world = await startWorld({
    template: TEMPLATE,
    offers: [
      { instanceType: 'std-4', zone: 'a', count: 8, pricePerHour: 0.5 },
      { instanceType: 'team-4', zone: 'a', count: 1, labels: { team: 'blue' } },
      { instanceType: 'site-4', zone: 'a', count: 1, labels: { site: 'north' } },
      { instanceType: 'licence-4', zone: 'a', count: 1, labels: { licence: 'gold' } },
      { instanceType: 'fresh-4', zone: 'a', count: 3, pricePerHour: 5 },
    ],
    operatorValues: { leaderElection: { enabled: true } },
    operatorArgs: [
      `--bootstrap-allowed-keys=${ALLOWED.join(',')}`,
      '--lease-namespace=bigfleet-system',
      LEASE_DURATION,
    ],
  });
});

after(async () => {
  await world?.[Symbol.asyncDispose]();
});

/** So many Pods of which each takes a machine of its own. */
async function podsFor(namespace: string, count: number, more: Json = {}): Promise<void> {
  const { admin } = world.plane;
  const path = podsPath(namespace);
  await each(
    Array.from({ length: count }, (_, at) => at),
    (at) => admin.must(admin.create(path, pod(`p-${at}`, 4_000, more))),
  );
}

async function podsGo(namespace: string): Promise<void> {
  const { admin } = world.plane;
  await admin.must(admin.delete(podsPath(namespace), { gracePeriodSeconds: 0 }));
  await nothingIsLeft(world, namespace);
}

/** Waits until so many UpcomingNodes are Ready, each with its Node, and there are no others. */
function readyNodes(count: number): Promise<readonly Stored[]> {
  let seen: readonly Stored[] = [];
  return eventually(
    async () => {
      seen = await upcomingNodes(world);
      const all = seen.every(
        ({ status }) => status?.['phase'] === 'Ready' && status['nodeRef'] !== undefined,
      );
      return all && seen.length === count && seen;
    },
    { what: `${count} UpcomingNodes are Ready`, everyMs: 100, details: () => described(seen) },
  );
}

function identities(nodes: readonly Stored[]): readonly (readonly unknown[])[] {
  return nodes
    .map(({ metadata, status }) => [metadata.name, metadata.uid, status?.['nodeRef']] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Waits until the shard has at least so many in that state. */
async function machinesIn(wanted: MachineState, count: number): Promise<void> {
  await eventually(
    async () => {
      const machines = Array.from((await machinesOf(world.shardAddress)).values());
      return machines.filter(({ state }) => state === wanted).length >= count;
    },
    { what: `${count} machines in state ${wanted}`, details: () => world.tails() },
  );
}

async function noMachineFailed(): Promise<void> {
  const states = Array.from((await machinesOf(world.shardAddress)).values());
  const failed = states.filter(({ state }) => state === MachineState.FAILED);
  assert.deepEqual(
    failed.map(({ machineId, lastError }) => `${machineId} ${lastError}`),
    [],
  );
}

test('16. Bad template ⇒ refuses to start', { skip }, async () => {
  const argv = world.operator.args.filter((one) => !/^--(boot.*file|metrics-addr)=/.test(one));
  const texts = ['{{ if .ClusterID }}', '{{ .ClusterID | shout }}', ''];
  await each(texts, async (text) => {
    const file = join(world.folder, `bad-${texts.indexOf(text)}.tmpl`);
    writeFileSync(file, text);
    await using refused = await launch('operator', [...argv, `--bootstrap-template-file=${file}`]);
    assert.deepEqual(await refused.waitExit(), { kind: 'code', code: 1 });
    assert.match(
      refused.output.text(),
      /^operator: parse bootstrap-template-file: .*\(bootstrap_template_invalid\)$/m,
    );
  });
});

const unservable = [
  ['16. Failing execution ⇒ `error` response, operator alive', { site: 'north' }],
  ['23. Template with `fail`: shortfall, no Failed machine, operator alive', { team: 'blue' }],
  [
    '23. A key outside `bootstrapAllowedKeys`: shortfall, no Failed machine, operator alive',
    { licence: 'gold' },
  ],
] as const;

for (const [name, nodeSelector] of unservable) {
  test(name, { skip }, async (t) => {
    world.explainFailures(t);
    const { admin } = world.plane;
    const [key = '', value = ''] = Object.entries<string>(nodeSelector)[0] ?? [];
    const namespace = await world.plane.namespace(`unservable-${key}`);
    const { process } = world.operator;
    const before = world.machines.acts.length;
    await admin.must(admin.create(podsPath(namespace), pod('p', 1_000, { nodeSelector })));
    await eventually(
      async () =>
        world.shard.tail().includes(`reqs=${key}:1:${value}|`) &&
        (await world.shard.metric('bigfleet_shard_shortfalls')) > 0,
      { what: 'a shortfall of that profile', details: () => world.tails() },
    );
    // The machine that fits was made for it, was refused its blob and waits; others still come.
    const others = { nodeSelector: { 'node.kubernetes.io/instance-type': 'std-4' } };
    await admin.must(admin.create(podsPath(namespace), pod('good', 3_000, others)));
    await runningPods(world, namespace, 1);
    const acts = world.machines.acts.slice(before);
    assert.deepEqual(
      acts.filter((act) => act.startsWith(`configure ${key}`)),
      [],
    );
    await noMachineFailed();
    assert.equal(process.exit, undefined);
    assert.equal(world.operator.process, process);
    await rollupsGoOn(world);
    await podsGo(namespace);
  });
}

test('8. Shard killed and restarted: reconnect, immediate roll-up, same UpcomingNodes, no duplicates, no leaks', {
  skip,
}, async (t) => {
  world.explainFailures(t);
  const { shard, operator, machines } = world;
  const namespace = await world.plane.namespace('shard-killed');
  await podsFor(namespace, 2);
  const before = identities(await readyNodes(2));
  await runningPods(world, namespace, 2);
  const acts = machines.acts.length;
  // No tick comes by itself while the test runs: what the shard knows is from its start.
  await operator.restart(
    operator.args.map((one) => (one === INTERVAL ? '--rollup-interval=1h' : one)),
  );
  await isConnected(world);
  for (let round = 0; round < 2; round++) {
    const reconnects = await operator.metric(RECONNECTS);
    await shard.kill();
    await eventually(async () => (await operator.metric(RECONNECTS)) > reconnects, {
      what: 'the operator sees it go',
    });
    await shard.start();
    await demandIsWhole(world.plane.admin, world.shardAddress, world.clusterId);
    assert.deepEqual(identities(await readyNodes(2)), before);
  }
  assert.deepEqual(machines.acts.slice(acts), []);
  // In the middle of a burst.
  await operator.restart(
    operator.args.map((one) => (one === '--rollup-interval=1h' ? INTERVAL : one)),
  );
  const release = machines.hold('configure');
  const burst = await world.plane.namespace('shard-killed-burst');
  await podsFor(burst, 4);
  await eventually(async () => (await upcomingNodes(world)).length === 6, {
    what: 'machines on their way',
    details: () => world.tails(),
  });
  await shard.kill();
  release();
  await shard.start();
  await runningPods(world, burst, 4);
  const after = identities(await readyNodes(6));
  assert.equal(
    before.every(([, uid]) => after.some(([, other]) => other === uid)),
    true,
  );
  await noMachineFailed();
  const { admin } = world.plane;
  await admin.must(admin.delete(podsPath(burst), { gracePeriodSeconds: 0 }));
  await podsGo(namespace);
});

test('8. Operator killed mid-burst loses no node-state (replay)', { skip }, async (t) => {
  world.explainFailures(t);
  const { operator, machines } = world;
  const namespace = await world.plane.namespace('operator-killed');
  const before = machines.acts.length;
  await podsFor(namespace, 6);
  // Some are Ready, some on their way, some not yet begun.
  await eventually(
    () => machines.acts.slice(before).filter((act) => act.startsWith('configure')).length >= 2,
    { what: 'the burst is under way', everyMs: 5, details: () => world.tails() },
  );
  await operator.kill();
  // The machines go on without it.
  await machinesIn(MachineState.CONFIGURED, 2);
  await operator.start();
  await runningPods(world, namespace, 6);
  await readyNodes(6);
  await noMachineFailed();
  const made = machines.acts.slice(before).filter((act) => act.startsWith('configure'));
  assert.equal(new Set(made).size, made.length, 'no machine is configured twice');
  assert.equal(made.length, 6);
  await podsGo(namespace);
});

test('17. Upgrade of the operator while bootstraps are pending: requests reissued on the new stream, no machine Failed, no second `replaced` event', {
  skip,
}, async (t) => {
  world.explainFailures(t);
  const { shard, operator, machines } = world;
  const namespace = await world.plane.namespace('upgrade');
  const release = machines.hold('create');
  // Of a kind that is not there yet: an idle machine would not be created.
  await podsFor(namespace, 3, { nodeSelector: { 'node.kubernetes.io/instance-type': 'fresh-4' } });
  await machinesIn(MachineState.CREATING, 3);
  const old = operator.process;
  const reissued = await shard.metric(REISSUED);
  const replaced = await sessionCount(world, 'replaced');
  const begun = (await sessionCount(world, 'installed')) + replaced;
  await old.pause();
  release();
  // Their blobs are asked for, and nobody answers.
  await machinesIn(MachineState.CONFIGURING, 3);
  await operator.start();
  await isConnected(world);
  // The old one wakes up to find itself replaced, and told to go.
  old.signal('SIGTERM');
  await old.resume();
  assert.deepEqual(await old.waitExit(), { kind: 'code', code: 0 });
  await runningPods(world, namespace, 3);
  await readyNodes(3);
  assert.equal((await shard.metric(REISSUED)) - reissued, 3);
  // One session more. It replaces the old one, unless the shard's pings have ended that before.
  const replacedNow = await sessionCount(world, 'replaced');
  assert.equal((await sessionCount(world, 'installed')) + replacedNow - begun, 1);
  assert.ok(replacedNow - replaced <= 1);
  await noMachineFailed();
  await podsGo(namespace);
});

test('17. Two operators with the same cluster id and the Lease on do not oscillate', {
  skip,
}, async (t) => {
  world.explainFailures(t);
  const { operator } = world;
  const plain = operator.args;
  await operator.stop();
  // A busy machine may be slow to answer, and a session that is ended for it would count as a swing.
  const patient = plain.map((one) => (one === INTERVAL ? '--rollup-interval=3s' : one));
  await operator.start([...patient, '--leader-elect']);
  await isConnected(world);
  await using second = await start(
    'operator',
    operator.args.filter((one) => !one.startsWith('--metrics-addr=')),
  );
  await second.process.waitForLine(/msg="lease held by another operator; waiting" .*holder=/);
  const installed = await sessionCount(world, 'installed');
  const replaced = await sessionCount(world, 'replaced');
  const reconnects = await operator.metric(RECONNECTS);
  await rollupsGoOn(world, 3);
  assert.deepEqual(
    [
      await sessionCount(world, 'installed'),
      await sessionCount(world, 'replaced'),
      await operator.metric(RECONNECTS),
      await second.metric('bigfleet_operator_session_connected'),
      (await second.get('/readyz')).status,
    ],
    [installed, replaced, reconnects, 0, 200],
  );
  await operator.kill();
  await isConnected(world, second);
  await operator.start();
  await operator.process.waitForLine(/msg="lease held by another operator; waiting"/);
  assert.equal(await sessionCount(world, 'replaced'), replaced);
  await second.process.stop();
  await isConnected(world);
  await operator.restart(plain);
});
