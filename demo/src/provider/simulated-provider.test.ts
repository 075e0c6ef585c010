// Proves, under the kit and virtual time, that machines of the simulated provider take their time,
// that its failures become Failed machines that recover, that the spot market takes machines, that a
// serving machine is a node of its cluster, and what a lost zone and a spike of prices do to all of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import {
  type CapacityTypeName,
  createProvider,
  MemoryStore,
  type Offering,
  parseProviderFlags,
  type Provider,
} from '@bigfleet/providerkit';
import { captureSink, createLogger, createRegistry } from '@bigfleet/telemetry';
import {
  CapacityProvider,
  createClient,
  type Machine,
  MachineState,
  openGate,
  Router,
} from '@bigfleet/wire';
import { createMemoryNetwork } from '@bigfleet/wire/memory';
import { KubeClient, type Node, WriteLanes } from '@bigfleet/kube';
import { ApiServer, InMemoryTransport, Kubelets } from '@bigfleet/kube/testing';
import {
  METAL_TYPE,
  METAL_ZONE,
  type ProviderName,
  PROVIDERS,
  RACK_KEY,
  regionOf,
  REGION_KEY,
} from '../places.ts';
import { PROFILE_NAMES, profiles } from '../profiles.ts';
import { SimulatedBackend } from './backend.ts';
import { definitionOf } from './definition.ts';
import { Disturbances } from './disturbances.ts';
import { interruptSpotHosts } from './interruptions.ts';
import { Market } from './market.ts';
import { MachineNodes } from './nodes.ts';
import { dwellMs, FAILURE_BLOCK, Pace } from './pace.ts';
import { allocatableOf, bucketsOf, priceOf, soldTypes } from './shapes.ts';
import { type SimulatedSlot, slotsOf } from './slots.ts';

const FAILED_CLEANUP_MS = 3_000;
const RECONCILE_MS = 2_000;
/** Its first failure is the seventh transition: later than those of a single machine. */
const SEED = '1';

interface Stage {
  readonly time: VirtualRuntime;
  readonly provider: Provider;
  readonly failures: string[];
  readonly interruptions: number[];
  readonly disturbances: Disturbances;
  create(id: string): Promise<void>;
  configure(id: string): Promise<void>;
  drain(id: string): Promise<void>;
  /** Of the cluster that machines are configured for. */
  nodes(): readonly Node[];
  machines(): Promise<readonly Machine[]>;
  states(): Promise<ReadonlyMap<string, MachineState>>;
  close(): Promise<void>;
}

function offering(changes: Partial<Offering>): Offering {
  return {
    instanceType: 'm6i.large',
    zone: 'zone-a',
    capacityType: 'Spot',
    count: 1,
    resources: new Map([['cpu', '1']]),
    labels: new Map(),
    pricePerHour: undefined,
    extra: new Map(),
    ...changes,
  };
}

function slots(count: number): readonly SimulatedSlot[] {
  return Array.from({ length: count }, (_, at) => slot(`s/${at}`, {}));
}

function slot(id: string, changes: Partial<Offering>): SimulatedSlot {
  return { id, offering: offering(changes), labels: new Map() };
}

async function stage(what: number | readonly SimulatedSlot[], mayFail = true): Promise<Stage> {
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
  const market = new Market();
  const offered = typeof what === 'number' ? slots(what) : what;
  const options = { runtime, label: 's', slots: offered, market, pace, nodes, mayFail, onFailure };
  const backend = new SimulatedBackend(options);
  const provider = await createProvider({
    backend,
    store: new MemoryStore(),
    runtime,
    options: {
      failedCleanupAfterMs: FAILED_CLEANUP_MS,
      reconcileIntervalMs: RECONCILE_MS,
      retireAbsentSlots: true,
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
  const taking = interruptSpotHosts(
    { runtime, pace, backend, onInterrupted },
    provider,
    ending.signal,
  ).catch((error: unknown) => assert.equal(error, ending.signal.reason));
  const joined = nodes.run(ending.signal);
  const { signal } = ending;
  const disturbances = new Disturbances({ runtime, backend, market, provider, signal });
  const during = async <T>(call: Promise<T>): Promise<T> => {
    await time.runFor(20);
    return await call;
  };
  return {
    time,
    provider,
    failures,
    interruptions,
    disturbances,
    create: async (machineId) => void (await during(client.create({ machineId }))),
    configure: async (machineId) => {
      const blob = '--node-labels=bigfleet.lucy.sh/machine-id=h-1';
      const bootstrapBlob = new TextEncoder().encode(blob);
      await during(client.configure({ machineId, clusterId: 'web-eu', bootstrapBlob }));
    },
    drain: async (machineId) => void (await during(client.drain({ machineId }))),
    nodes: () => [...server.store.values('/nodes')].map(({ object }) => object as unknown as Node),
    machines: async () => (await during(client.list({}))).machines,
    states: async () => {
      const { machines } = await during(client.list({}));
      return new Map(machines.map(({ id, state }) => [id, state]));
    },
    close: async () => {
      ending.abort(new Error('the test is over'));
      await Promise.all([taking, joined]);
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

test('where nothing may fail, every create of a block succeeds', async () => {
  const subject = await stage(FAILURE_BLOCK, false);
  for (let at = 0; at < FAILURE_BLOCK; at++) await subject.create(`s/${at}`);
  await subject.time.runFor(dwellMs.create[1]);
  assert.deepEqual(subject.failures, []);
  assert.deepEqual(new Set((await subject.states()).values()), new Set([MachineState.IDLE]));
  await subject.close();
});

/** Machines of a whole block of creates, bought of the provider as its process would sell them. */
async function boughtOf(name: ProviderName): Promise<readonly MachineState[]> {
  const time = createVirtualRuntime({ seed: 'bought', drain: drainMicrotasks });
  const { runtime } = time;
  const logger = createLogger({ clock: runtime.clock, sink: captureSink() });
  const definition = definitionOf(name);
  const read = parseProviderFlags(definition, { argv: [`--seed=${SEED}`], env: {} });
  assert.ok(read.kind === 'settings');
  const { backend } = await definition.createBackend({
    ...read.settings,
    kind: 'fake',
    provider: name,
    offerings: [offering({ count: FAILURE_BLOCK, zone: METAL_ZONE, capacityType: 'Reserved' })],
    runtime,
    logger,
    api: { measured: (_operation, call) => call() },
    registry: createRegistry(),
  });
  const provider = await createProvider({
    backend,
    store: new MemoryStore(),
    runtime,
    options: { readiness: { confirmNodeReady: async () => {} } },
    logger,
  });
  const network = createMemoryNetwork({ runtime: time.runtimeFor('network') });
  const router = new Router({ gate: openGate });
  router.add(CapacityProvider, provider.handlers);
  network.listen('provider', router);
  const channel = network.connect({ from: 'test', to: 'provider' });
  const client = createClient(CapacityProvider, channel);
  const machines = async (): Promise<readonly Machine[]> => {
    const listed = client.list({});
    await time.runFor(20);
    return (await listed).machines;
  };
  for (const { id } of await machines()) {
    const created = client.create({ machineId: id });
    await time.runFor(20);
    await created;
  }
  await time.runFor(dwellMs.create[1]);
  const states = (await machines()).map(({ state }) => state);
  const closed = provider.shutdown(0);
  await time.runFor(100);
  await closed;
  channel.close();
  return states;
}

test('a create of the cloud may fail, one of metal may not', async () => {
  const metal = await boughtOf('sim-metal');
  assert.deepEqual(
    metal,
    Array.from({ length: FAILURE_BLOCK }, () => MachineState.IDLE),
  );
  const cloud = await boughtOf('sim-north');
  assert.equal(cloud.filter((state) => state === MachineState.FAILED).length, 1);
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

test('a lost zone takes its machines, their Nodes and its slots, and comes back empty', async () => {
  const metal = { instanceType: METAL_TYPE, capacityType: 'BareMetal' as const };
  const subject = await stage([
    slot('s/a', { capacityType: 'OnDemand' }),
    slot('s/unused', { capacityType: 'OnDemand' }),
    slot('s/rack', metal),
    slot('s/elsewhere', { capacityType: 'OnDemand', zone: 'zone-b' }),
  ]);
  for (const id of ['s/a', 's/elsewhere']) {
    await subject.create(id);
    await subject.time.runFor(dwellMs.create[1]);
    await subject.configure(id);
    await subject.time.runFor(dwellMs.configure[1]);
  }
  assert.equal(subject.nodes().length, 2);
  const losing = subject.disturbances.loseZone('zone-a', 30_000);
  await subject.time.runFor(100);
  assert.deepEqual(await losing, { lostCount: 2 });
  const lost = await subject.states();
  assert.equal(lost.get('s/a'), MachineState.FAILED);
  assert.equal(lost.get('s/rack'), MachineState.FAILED);
  assert.equal(lost.has('s/unused'), false, 'nothing is sold there');
  assert.equal(lost.get('s/elsewhere'), MachineState.CONFIGURED);
  assert.equal(subject.nodes().length, 1);
  await assert.rejects(subject.disturbances.loseZone('zone-a', 1_000), /is lost already/);
  await subject.time.runFor(FAILED_CLEANUP_MS + RECONCILE_MS + 2_000);
  assert.deepEqual([...(await subject.states()).keys()], ['s/elsewhere']);
  await subject.time.runFor(30_000);
  const back = await subject.states();
  assert.equal(back.get('s/a'), MachineState.SPECULATIVE);
  assert.equal(back.get('s/unused'), MachineState.SPECULATIVE);
  assert.equal(back.get('s/rack'), MachineState.IDLE, 'bare metal stands there again');
  await subject.close();
});

test('a create that is under way when its zone is lost fails, and says why', async () => {
  const subject = await stage([
    slot('s/a', { capacityType: 'OnDemand' }),
    slot('s/b', { capacityType: 'OnDemand', zone: 'zone-b' }),
  ]);
  await subject.create('s/a');
  const losing = subject.disturbances.loseZone('zone-a', 60_000);
  await subject.time.runFor(dwellMs.create[1]);
  assert.deepEqual(await losing, { lostCount: 0 });
  const machine = (await subject.machines()).find(({ id }) => id === 's/a');
  assert.equal(machine?.state, MachineState.FAILED);
  assert.match(machine.lastError, /ZoneUnavailable.*zone-a is lost/);
  await subject.close();
});

test('a spike raises the prices of spot alone, of machines and slots alike, and ends', async () => {
  const subject = await stage([slot('s/spot', {}), slot('s/demand', { capacityType: 'OnDemand' })]);
  const prices = async (): Promise<readonly number[]> =>
    (await subject.machines()).map(({ pricePerHour }) => pricePerHour);
  const [spot = 0, demand = 0] = await prices();
  const first = subject.disturbances.spikeSpot(5, 10_000);
  await subject.time.runFor(100);
  assert.deepEqual(await first, { refreshedCount: 1 });
  assert.deepEqual(await prices(), [Number((spot * 5).toFixed(4)), demand]);
  // A second one takes the place of the first, whose end is not its own.
  const second = subject.disturbances.spikeSpot(3, 20_000);
  await subject.time.runFor(11_000);
  await second;
  assert.deepEqual(await prices(), [Number((spot * 3).toFixed(4)), demand]);
  await subject.time.runFor(10_000);
  assert.deepEqual(await prices(), [spot, demand]);
  await subject.close();
});

test('everything on sale has a size and a price, and what the demo calls sold is exactly that', () => {
  for (const provider of PROVIDERS) {
    for (const bucket of bucketsOf(provider, 12)) {
      assert.ok(soldTypes.includes(bucket.instanceType));
      assert.ok(allocatableOf(bucket.instanceType)?.has('cpu'), bucket.instanceType);
      const isPaid = bucket.capacityType !== 'BareMetal';
      assert.equal((priceOf(offering(bucket)) ?? 0) > 0, isPaid, JSON.stringify(bucket));
    }
  }
  assert.equal(soldTypes.includes('b300-highgpu-8g'), false);
});

test('the two providers sell every kind of capacity, metal in one zone alone', () => {
  const kinds = PROVIDERS.flatMap((provider) =>
    bucketsOf(provider, 12).map(({ capacityType }) => capacityType),
  );
  const expected: readonly CapacityTypeName[] = ['BareMetal', 'OnDemand', 'Reserved', 'Spot'];
  assert.deepEqual([...new Set(kinds)].sort(), expected);
  const metal = bucketsOf('sim-metal', 12).filter((one) => one.instanceType === METAL_TYPE);
  assert.deepEqual(
    metal.map(({ zone }) => zone),
    [METAL_ZONE],
  );
});

test('every machine has a region, a zone and a rack, and a rack has machines of one bucket', () => {
  for (const name of PROFILE_NAMES) {
    const { slotsPerBucket } = profiles[name];
    const racks = new Map<string, string>();
    for (const provider of PROVIDERS) {
      const offerings = bucketsOf(provider, slotsPerBucket).map((bucket) =>
        offering({ ...bucket, labels: new Map([[REGION_KEY, regionOf(bucket.zone)]]) }),
      );
      const sizes = new Map<string, number>();
      for (const { id, offering: of, labels } of slotsOf(provider, offerings)) {
        const rack = labels.get(RACK_KEY) ?? '';
        assert.ok(rack.startsWith(`${of.zone}-`), rack);
        assert.match(labels.get(REGION_KEY) ?? '', /^north-[12]$/);
        const bucket = id.slice(0, id.lastIndexOf('/'));
        assert.equal(racks.get(rack) ?? bucket, bucket, `${rack} is in two buckets`);
        racks.set(rack, bucket);
        sizes.set(rack, (sizes.get(rack) ?? 0) + 1);
      }
      const largest = Math.max(...sizes.values());
      assert.equal(largest, provider === 'sim-metal' ? 4 : 12);
    }
  }
});
