// Proves the readiness gate (provider-contract §11): Configured only after the node was confirmed, one
// timeout for join and gate together, and no provider without a source.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { MachineState } from '@bigfleet/wire';
import { trustJoinHook } from '../../backend/readiness.ts';
import { createProvider } from '../../create-provider.ts';
import { MemoryStore } from '../../store/memory-store.ts';
import { binding, World } from './world.ts';

const options = { timeouts: { configure: 10_000 }, failedCleanupAfterMs: 0 };

test('Configuring is held until the node is Ready', async () => {
  const waits: number[] = [];
  const observer = { nodeReady: (ms: number) => void waits.push(ms) };
  const world = await new World({ options, observer }).start();
  await world.toIdle('m-0');
  const ready = Promise.withResolvers<void>();
  world.backend.script = ({ name }) => (name === 'ready' ? ready.promise : undefined);
  await world.settle(world.client.configure(binding('m-0')));
  for (let i = 0; i < 90; i++) {
    await world.run(100);
    assert.equal((await world.get('m-0')).state, MachineState.CONFIGURING);
  }
  ready.resolve();
  await world.run(1);
  assert.equal((await world.get('m-0')).state, MachineState.CONFIGURED);
  assert.equal(waits.length, 1);
  assert.ok((waits[0] ?? 0) > 8_900);
});

test('the gate gets what the join left of one timeout', async () => {
  const world = await new World({ options }).start();
  await world.toIdle('m-0');
  world.backend.delayMs = 7_000;
  world.backend.script = ({ name }) => (name === 'ready' ? new Promise(() => {}) : undefined);
  await world.settle(world.client.configure(binding('m-0')));
  await world.run(9_990);
  assert.equal((await world.get('m-0')).state, MachineState.CONFIGURING);
  assert.equal(world.backend.countOf('ready'), 1);
  await world.run(10);
  const machine = await world.get('m-0');
  assert.equal(machine.state, MachineState.FAILED);
  assert.equal(machine.lastError, 'node readiness: [timeout/configure] timed out after 10 s');
});

test('a node that can never be Ready fails at once, with its reason', async () => {
  const world = await new World({ options }).start();
  await world.toIdle('m-0');
  world.backend.script = ({ name }) =>
    name === 'ready' ? Promise.reject(new Error('host is gone')) : undefined;
  await world.settle(world.client.configure(binding('m-0')));
  await world.run(100);
  const { state, lastError } = await world.get('m-0');
  assert.equal(state, MachineState.FAILED);
  assert.match(lastError, /^node readiness: .*host is gone$/);
});

test('without any source a provider refuses to start, with an explicit one it starts', async () => {
  const world = new World();
  const { runtime } = world.time;
  const { confirmNodeReady, ...backend } = bound(world);
  assert.equal(typeof confirmNodeReady, 'function');
  const common = { backend, runtime, logger: world.logger };
  await assert.rejects(
    createProvider({ ...common, store: new MemoryStore() }),
    (error) => error instanceof BigFleetError && error.code === 'readiness_source_missing',
  );
  const given = { readiness: trustJoinHook, reconcileIntervalMs: 0 };
  const provider = await createProvider({ ...common, store: new MemoryStore(), options: given });
  assert.equal(provider.ready, true);
});

test('four methods are a whole backend', async () => {
  const world = new World();
  const { describe, createInstance, configureInstance, drainInstance } = bound(world);
  const backend = { describe, createInstance, configureInstance, drainInstance };
  const provider = await createProvider({
    backend,
    store: new MemoryStore(),
    runtime: world.time.runtime,
    logger: world.logger,
    options: { readiness: trustJoinHook, reconcileIntervalMs: 0 },
  });
  assert.equal(provider.ready, true);
  await world.settle(provider.shutdown(0));
});

/** The methods as plain properties, so that a test can leave some out. */
function bound(world: World): {
  describe: World['backend']['describe'];
  createInstance: World['backend']['createInstance'];
  configureInstance: World['backend']['configureInstance'];
  confirmNodeReady: World['backend']['confirmNodeReady'];
  drainInstance: World['backend']['drainInstance'];
} {
  const { backend } = world;
  return {
    describe: (call) => backend.describe(call),
    createInstance: (call) => backend.createInstance(call),
    configureInstance: (call) => backend.configureInstance(call),
    confirmNodeReady: (call) => backend.confirmNodeReady(call),
    drainInstance: (call) => backend.drainInstance(call),
  };
}
