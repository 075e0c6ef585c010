// A provider with the machines of a shape behind real gRPC: the contract's fake, asynchronous. All
// records are encoded before it serves, so that a List costs it a copy, as it costs a real one.

import { realRuntime } from '@bigfleet/base/real';
import { encodeShardMetadata, type Machine, printResources, State } from '@bigfleet/engine';
import { fakeHandlers, FakeProvider, type FakeSpec } from '@bigfleet/shard/testing';
import {
  CapacityProvider,
  createGate,
  createGrpcServer,
  Health,
  HealthRegistry,
  Router,
  tlsFromFlags,
} from '@bigfleet/wire';
import { buildShape } from './shapes.ts';
import { SlowCalls } from './slow-calls.ts';
import type { Answers } from '../harness/answer-questions.ts';
import type { PemFiles, ProviderOrder } from './order.ts';

/** How long a transition takes. */
const LATENCY_MS = 20;
const EVERYTHING = { states: [], maxResults: 0, sinceRevision: new Uint8Array() };

export async function serveFleet({ shape, tls, callMs = 0 }: ProviderOrder): Promise<Answers> {
  const fake = new FakeProvider({
    runtime: realRuntime(),
    label: 'bench',
    latencyMs: LATENCY_MS,
  });
  const ids = seed(fake, shape);
  for (const machine of fake.list(EVERYTHING).machines) machine.encoded();
  const calls = new SlowCalls(callMs);
  const address = await listen(fake, tls, calls);
  return {
    address: () => address,
    machineCount: () => fake.machineCount,
    configuredCount: () => fake.configuredCount,
    /** Calls that changed something, and how many of them were open at once. */
    callCount: () => calls.count,
    openMax: () => calls.openMax,
    /** Changes what so many machines offer, spread over the fleet; the time is not measured. */
    change: (count) => change(fake, ids, count),
  };
}

async function listen(fake: FakeProvider, files: PemFiles, calls: SlowCalls): Promise<string> {
  const tls = tlsFromFlags({ ...files, requireTls: true });
  if (tls === 'plaintext') throw new Error('the provider must be mTLS');
  const router = new Router({ gate: createGate({ transport: 'mtls' }) });
  router.add(CapacityProvider, fakeHandlers(fake)).add(Health, new HealthRegistry().handlers);
  const server = createGrpcServer({
    runtime: realRuntime(),
    router: calls.slowed(router),
    listen: ['127.0.0.1:0'],
    keepalive: 'provider',
    tls,
  });
  const [address = ''] = await server.bind();
  return address;
}

function seed(fake: FakeProvider, shape: string): readonly string[] {
  const { engine } = buildShape(shape);
  const { inventory } = engine;
  const ids: string[] = [];
  for (let slot = 0; slot < inventory.slotCount; slot++) {
    const machine = inventory.read(slot);
    const spec = specOf(machine);
    if (machine.state === State.Speculative) fake.addSpeculative(spec);
    else if (machine.state === State.Idle) fake.addIdle(spec);
    else if (machine.state === State.Configured) {
      const metadata = new Map(Object.entries(encodeShardMetadata(machine.assigned)));
      fake.addConfigured(spec, machine.cluster, metadata);
    } else throw new Error(`${machine.id} is under way in a fleet at rest`);
    ids.push(machine.id);
  }
  return ids;
}

function specOf(machine: Machine): FakeSpec {
  const { id, instanceType, zone, capacityType, labels } = machine;
  const { pricePerHour, interruptionProbability } = machine;
  const allocatable = printResources(machine.allocatable);
  return {
    id,
    instanceType,
    zone,
    capacityType,
    pricePerHour,
    interruptionProbability,
    resources: allocatable,
    allocatable,
    labels,
  };
}

let changeCount = 0;

/** Two kinds of machine in turn: classes must not grow with the number of rounds. */
function change(fake: FakeProvider, ids: readonly string[], count: number): number {
  changeCount += 1;
  const allocatable = new Map([
    ['cpu', '8'],
    ['memory', changeCount % 2 === 0 ? '32Gi' : '33Gi'],
  ]);
  const stride = Math.max(1, Math.floor(ids.length / count));
  for (let at = 0; at < count; at++) fake.setAllocatable(ids[at * stride] as string, allocatable);
  return count;
}
