// Proves the session over the real network: a hundred operators with certificates of their own over
// gRPC and mTLS, impostors refused, replacement, a reader that stalls, and a stop with open streams.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sleep } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import {
  captureSink,
  createLogger,
  createRegistry,
  type MetricRegistry,
} from '@bigfleet/telemetry';
import {
  createGate,
  createGrpcChannel,
  createGrpcServer,
  type GrpcServer,
  Router,
  RpcError,
  sanOf,
  Shard,
  type TlsMaterial,
} from '@bigfleet/wire';
import { createLeaves, type TestLeaves } from '../provider/testing/leaf.ts';
import { createOperators, type Operators } from './operators.ts';
import { FakeMachines } from './testing/fake-machines.ts';
import { FakeEngine } from './testing/fake-engine.ts';
import { metricValue } from '../session/testing/metric-reader.ts';
import { rollup } from './testing/stage.ts';
import { TestOperator } from '../session/testing/test-operator.ts';

const runtime = realRuntime({ seed: 'network' });
const SESSION_COUNT = 100;

interface World {
  readonly operators: Operators;
  readonly server: GrpcServer;
  readonly registry: MetricRegistry;
  readonly machines: FakeMachines;
  readonly engine: FakeEngine;
  readonly leaves: TestLeaves;
  readonly bugs: unknown[];
  dial(tls: TlsMaterial): TestOperator;
  /** An operator of the cluster with the right certificate. */
  operator(cluster: string): Promise<TestOperator>;
}

async function openWorld(t: TestContext): Promise<World> {
  const leaves = await createLeaves();
  const registry = createRegistry();
  const machines = new FakeMachines();
  const engine = new FakeEngine();
  const bugs: unknown[] = [];
  const operators = createOperators({
    runtime,
    registry,
    logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
    identityPolicy: { transport: 'mtls', requireSessionCn: false },
    machines,
    isInventoryWhole: () => true,
    demand: machines,
    engine,
    isGuarded: () => true,
    demandApplied: () => {},
    drainFired: () => {},
    ackStamp: () => ({ coordinatorTerm: 1n, shardEpoch: 1n }),
    supervise: (_component, work) => {
      work.then(undefined, (error: unknown) => bugs.push(error));
    },
  });
  const router = new Router({
    gate: createGate({ transport: 'mtls', onDenied: operators.onRoleDenied }),
    onPanic: (_path, error) => bugs.push(error),
  }).add(Shard, operators.handlers);
  const server = createGrpcServer({
    runtime,
    router,
    listen: ['127.0.0.1:0'],
    tls: await leaves.leaf(sanOf('shard', 'shard-0')),
    stopGraceMs: 3_600_000,
  });
  const [target] = await server.bind();
  assert.ok(target !== undefined);
  const dial = (tls: TlsMaterial): TestOperator => {
    const serverIdentity = { kind: 'shard', id: 'shard-0' } as const;
    const channel = createGrpcChannel({ runtime, target, tls, serverIdentity });
    t.after(() => channel.close());
    return new TestOperator(channel);
  };
  t.after(async () => {
    operators.stop();
    await server.stop();
    leaves.remove();
  });
  const operator = async (cluster: string): Promise<TestOperator> =>
    dial(await leaves.leaf(sanOf('cluster', cluster))).hello(cluster, ['reclaim-completion']);
  return { operators, server, registry, machines, engine, leaves, bugs, dial, operator };
}

function statusOf({ ending }: TestOperator): string {
  return ending instanceof RpcError ? `${ending.code} ${ending.message}` : (ending ?? 'open');
}

/** Polls the real world; bounded, so that what never happens fails and not hangs. */
async function eventually(what: string, holds: () => boolean): Promise<void> {
  for (let poll = 0; poll < 12_000; poll++) {
    if (holds()) return;
    await sleep(runtime, 5);
  }
  assert.fail(`never happened: ${what}`);
}

test('a hundred sessions: greeted, replayed, reported, asked and answered, each its own', async (t) => {
  const world = await openWorld(t);
  const clusters = Array.from({ length: SESSION_COUNT }, (_, i) => `cluster-${i}`);
  for (const cluster of clusters) world.machines.put(`${cluster}/m`, { cluster });
  const operators: TestOperator[] = [];
  for (const cluster of clusters) {
    operators.push(await world.operator(cluster));
    // A few at a time: a hundred handshakes in one process outlast their deadline on a busy machine.
    if (operators.length % 10 !== 0) continue;
    await eventually('these are greeted', () =>
      operators.every(({ echoes }) => echoes.includes('hello')),
    );
  }
  await eventually('every session is replayed', () =>
    operators.every(({ echoes }) => echoes.includes('resync')),
  );
  assert.equal(world.operators.sessions.size, SESSION_COUNT);
  for (const [i, operator] of operators.entries()) {
    const seen = operator.all('nodeStateUpdate').map(({ machineId }) => machineId);
    assert.deepEqual(seen, [`cluster-${i}/m`]);
    operator.send({ case: 'rollup', value: rollup({ clusterId: `cluster-${i}`, needCount: i }) });
  }
  await eventually('every roll-up is applied', () =>
    operators.every(({ echoes }) => echoes.includes('rollup')),
  );
  const { signal } = new AbortController();
  const pulls = clusters.map((cluster) =>
    world.operators.bootstrap.pull({
      cluster,
      machineId: `${cluster}/m`,
      fingerprint: 'f',
      requirements: [],
      signal,
    }),
  );
  await eventually('every operator is asked', () =>
    operators.every((operator) => operator.all('bootstrapRequest').length === 1),
  );
  for (const [i, operator] of operators.entries()) {
    const requestId = operator.all('bootstrapRequest')[0]?.requestId ?? '';
    const userData = Buffer.from(`blob of cluster-${i}`);
    operator.send({ case: 'bootstrapResponse', value: { requestId, userData } });
  }
  for (const [i, outcome] of (await Promise.all(pulls)).entries()) {
    assert.ok(outcome.kind === 'blob');
    assert.equal(Buffer.from(outcome.blob.userData.reveal()).toString(), `blob of cluster-${i}`);
  }
  const identities = [...world.operators.summaries()].map(
    ({ session }) => session.presentedIdentity,
  );
  assert.deepEqual(new Set(identities), new Set(clusters.map((c) => sanOf('cluster', c))));
  assert.deepEqual(world.bugs, []);
});

test('certificates decide: another cluster, another role, no SAN', async (t) => {
  const world = await openWorld(t);
  const real = await world.operator('blue');
  await eventually('blue is connected', () => real.echoes.includes('hello'));
  assert.equal(statusOf(real), 'open');
  const sans = [sanOf('cluster', 'green'), sanOf('admin', ''), sanOf('shard', 'blue'), ''];
  for (const [i, san] of sans.entries()) {
    const impostor = world.dial(await world.leaves.leaf(san)).hello('blue');
    await eventually(`${san} is refused`, () => impostor.ending !== undefined);
    assert.match(statusOf(impostor), /^PERMISSION_DENIED/);
    const name = 'bigfleet_shard_session_identity_rejected_total';
    assert.equal(await metricValue(world.registry, name), i + 1);
  }
  assert.equal(statusOf(real), 'open');
  const successor = await world.operator('blue');
  await eventually('the old session ends', () => real.ending !== undefined);
  assert.equal(statusOf(real), 'ABORTED session replaced');
  await eventually('the successor is connected', () => successor.echoes.includes('hello'));
});

test('a reader that stops costs its own outbox, coalesced, and stops nobody', async (t) => {
  const world = await openWorld(t);
  const slow = await world.operator('slow');
  const quick = await world.operator('quick');
  await eventually('both are connected', () => world.operators.sessions.size === 2);
  slow.stopReading();
  const labels = new Map([['long', 'x'.repeat(8_000)]]);
  for (const cluster of ['slow', 'quick']) {
    for (let i = 0; i < 400; i++) {
      const view = world.machines.put(`${cluster}-${i}`, { cluster, labels });
      world.operators.nodeStates.changed(view, cluster);
    }
  }
  await eventually(
    'the quick one has everything',
    () => quick.all('nodeStateUpdate').length >= 400,
  );
  const frames = 'bigfleet_shard_outbox_frames';
  const waiting = await metricValue(world.registry, frames);
  assert.ok(waiting > 0, 'the slow one has not');
  for (let round = 0; round < 5; round++) {
    for (const view of world.machines.views.values()) {
      world.operators.nodeStates.changed(view, view.cluster);
    }
    await sleep(runtime, 20);
  }
  assert.ok((await metricValue(world.registry, frames)) <= 800, 'one frame per machine at most');
  slow.resumeReading();
  await eventually('the slow one catches up', () => {
    const seen = new Set(slow.all('nodeStateUpdate').map(({ machineId }) => machineId));
    return seen.size === 400;
  });
  assert.deepEqual(world.bugs, []);
});

test('stopping with open streams ends them, and the server waits for nobody', async (t) => {
  const world = await openWorld(t);
  const operators = await Promise.all(['a', 'b', 'c'].map(world.operator));
  await eventually('all are connected', () => world.operators.sessions.size === 3);
  world.operators.stop();
  await world.server.stop();
  assert.deepEqual(
    operators.map(({ ending }) => ending),
    ['OK', 'OK', 'OK'],
  );
  assert.equal(world.server.callCount, 0);
});
