// Proves, under the kit and virtual time, that machines of the simulated provider take their time,
// that its failures become Failed machines that recover, that the spot market takes machines, and that a
// serving machine is a node of its cluster.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import {
  createProvider,
  MemoryStore,
  type OfferingSlot,
  type Provider,
} from '@bigfleet/providerkit';
import { captureSink, createLogger } from '@bigfleet/telemetry';
import { createClient, CapacityProvider, MachineState, openGate, Router } from '@bigfleet/wire';
import { createMemoryNetwork } from '@bigfleet/wire/memory';
import { KubeClient, type Node, WriteLanes } from '@bigfleet/kube';
import { ApiServer, InMemoryTransport, Kubelets } from '@bigfleet/kube/testing';
import { SimulatedBackend } from './backend.ts';
import { interruptSpotHosts } from './interruptions.ts';
import { MachineNodes } from './nodes.ts';
import { dwellMs, FAILURE_BLOCK, Pace } from './pace.ts';
import { allocatableOf, mix, slotCount, soldTypes } from './shapes.ts';

const FAILED_CLEANUP_MS = 3_000;
/** Its first failure is the seventh transition: later than those of a single machine. */
const SEED = '1';

interface Stage {
  readonly time: VirtualRuntime;
  readonly provider: Provider;
  readonly failures: string[];
  readonly interruptions: number[];
  create(id: string): Promise<void>;
  configure(id: string): Promise<void>;
  drain(id: string): Promise<void>;
  /** Of the cluster that machines are configured for. */
  nodes(): readonly Node[];
  states(): Promise<ReadonlyMap<string, MachineState>>;
  close(): Promise<void>;
}

function slots(count: number): readonly OfferingSlot[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `s/${at}`,
    offering: {
      instanceType: 'm6i.large',
      zone: 'zone-a',
      capacityType: 'Spot',
      count,
      resources: new Map([['cpu', '1']]),
      labels: new Map(),
      pricePerHour: undefined,
      extra: new Map(),
    },
  }));
}

async function stage(count: number): Promise<Stage> {
  const time = createVirtualRuntime({ seed: 'demo', drain: drainMicrotasks });
  const { runtime } = time;
  const failures: string[] = [];
  const interruptions: number[] = [];
  const pace = new Pace(createRandom(SEED));
  const onFailure = (step: string): void => {
    failures.push(step);
  };
  const server = new ApiServer({ runtime });
  const nodes = new MachineNodes((signal) => {
    const transport = new InMemoryTransport({ runtime, server });
    const lanes = new WriteLanes({ runtime, qps: 1_000, burst: 1_000 });
    const client = new KubeClient({ runtime, transport, lanes, fieldManager: 'kubelet' });
    return new Map([['web-eu', new Kubelets({ runtime, client, signal })]]);
  });
  const options = { runtime, label: 's', slots: slots(count), pace, nodes, onFailure };
  const backend = new SimulatedBackend(options);
  const provider = await createProvider({
    backend,
    store: new MemoryStore(),
    runtime,
    options: {
      failedCleanupAfterMs: FAILED_CLEANUP_MS,
      reconcileIntervalMs: 0,
      readiness: { confirmNodeReady: async () => {} },
    },
    logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
  });
  const network = createMemoryNetwork({ runtime: time.runtimeFor('network') });
  const router = new Router({ gate: openGate });
  router.add(CapacityProvider, provider.handlers);
  network.listen('provider', router);
  const channel = network.connect({ from: 'test', to: 'provider' });
  const client = createClient(CapacityProvider, channel);
  const ending = new AbortController();
  const onInterrupted = (): void => {
    interruptions.push(time.nowMs);
  };
  const market = interruptSpotHosts(
    { runtime, pace, backend, onInterrupted },
    provider,
    ending.signal,
  ).catch((error: unknown) => assert.equal(error, ending.signal.reason));
  const joined = nodes.run(ending.signal);
  const during = async <T>(call: Promise<T>): Promise<T> => {
    await time.runFor(20);
    return await call;
  };
  return {
    time,
    provider,
    failures,
    interruptions,
    create: async (machineId) => void (await during(client.create({ machineId }))),
    configure: async (machineId) => {
      const blob = '--node-labels=bigfleet.lucy.sh/machine-id=h-1';
      const bootstrapBlob = new TextEncoder().encode(blob);
      await during(client.configure({ machineId, clusterId: 'web-eu', bootstrapBlob }));
    },
    drain: async (machineId) => void (await during(client.drain({ machineId }))),
    nodes: () => [...server.store.values('/nodes')].map(({ object }) => object as unknown as Node),
    states: async () => {
      const { machines } = await during(client.list({}));
      return new Map(machines.map(({ id, state }) => [id, state]));
    },
    close: async () => {
      ending.abort(new Error('the test is over'));
      await Promise.all([market, joined]);
      server.stop();
      const closed = provider.shutdown(0);
      await time.runFor(100);
      await closed;
      channel.close();
    },
  };
}

test('a machine dwells in Creating and in Configuring before it serves', async () => {
  const subject = await stage(1);
  await subject.create('s/0');
  assert.equal((await subject.states()).get('s/0'), MachineState.CREATING);
  await subject.time.runFor(dwellMs.create[1]);
  assert.equal((await subject.states()).get('s/0'), MachineState.IDLE);
  await subject.configure('s/0');
  assert.equal((await subject.states()).get('s/0'), MachineState.CONFIGURING);
  await subject.time.runFor(dwellMs.configure[1]);
  assert.equal((await subject.states()).get('s/0'), MachineState.CONFIGURED);
  await subject.close();
});

test('a machine is a Ready node while it serves, and only its cluster takes the Node away', async () => {
  const subject = await stage(1);
  await subject.create('s/0');
  await subject.time.runFor(dwellMs.create[1]);
  assert.deepEqual(subject.nodes(), []);
  await subject.configure('s/0');
  await subject.time.runFor(dwellMs.configure[1]);
  assert.equal((await subject.states()).get('s/0'), MachineState.CONFIGURED);
  const [node] = subject.nodes();
  assert.equal(node?.spec?.providerID, 'simulated://s/0');
  assert.equal(node?.metadata.labels?.['node.kubernetes.io/instance-type'], 'm6i.large');
  assert.equal(node?.metadata.labels?.['bigfleet.lucy.sh/machine-id'], 'h-1');
  assert.equal(node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
  await subject.drain('s/0');
  await subject.time.runFor(dwellMs.drain[1]);
  assert.equal((await subject.states()).get('s/0'), MachineState.IDLE);
  assert.equal(subject.nodes().length, 1);
  await subject.close();
});

test('one of a block of creates fails, and its slot is for sale again after the cleanup', async () => {
  const subject = await stage(FAILURE_BLOCK);
  for (let at = 0; at < FAILURE_BLOCK; at++) await subject.create(`s/${at}`);
  await subject.time.runFor(dwellMs.create[1]);
  const counted = (states: ReadonlyMap<string, MachineState>, state: MachineState): number =>
    [...states.values()].filter((candidate) => candidate === state).length;
  const before = await subject.states();
  assert.deepEqual(subject.failures, ['create']);
  assert.equal(counted(before, MachineState.FAILED), 1);
  assert.equal(counted(before, MachineState.IDLE), FAILURE_BLOCK - 1);
  await subject.time.runFor(FAILED_CLEANUP_MS + 1_000);
  assert.equal(counted(await subject.states(), MachineState.SPECULATIVE), 1);
  await subject.close();
});

test('the spot market takes serving machines only', async () => {
  const subject = await stage(2);
  await subject.create('s/0');
  await subject.create('s/1');
  await subject.time.runFor(30_000);
  assert.deepEqual(subject.interruptions, []);
  await subject.configure('s/1');
  await subject.time.runFor(dwellMs.configure[1]);
  assert.equal((await subject.states()).get('s/1'), MachineState.CONFIGURED);
  await subject.time.runFor(2_000);
  assert.equal(subject.interruptions.length, 1);
  assert.equal((await subject.states()).get('s/1'), MachineState.FAILED);
  assert.equal((await subject.states()).get('s/0'), MachineState.IDLE);
  assert.deepEqual(subject.nodes(), [], 'a lost machine leaves no Node');
  await subject.close();
});

test('everything on sale has a size, and what the demo calls sold is exactly that', () => {
  assert.equal(slotCount % mix.length, 0);
  for (const { instanceType } of mix) {
    assert.ok(soldTypes.includes(instanceType));
    assert.ok(allocatableOf(instanceType)?.has('cpu'), instanceType);
  }
  assert.equal(soldTypes.includes('b300-highgpu-8g'), false);
});
