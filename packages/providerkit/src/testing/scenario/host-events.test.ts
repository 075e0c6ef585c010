// Proves what a backend may report as it happens: a dead host fails its machine at once in every
// state that has one; a notice is published and durable at once, belongs to the host, survives
// refresh and restart, and ends with the host.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sleep } from '@bigfleet/base';
import { MachineState } from '@bigfleet/wire';
import type { InterruptionNotice } from '../../provider.ts';
import { binding, slot, World } from './world.ts';

const spot = { capacityType: 'Spot', interruptionProbability: 0.05 } as const;
const options = { failedCleanupAfterMs: 0 };

test('a reported loss fails Idle and Configured at once', async () => {
  const world = await new World({ options }).start();
  await world.toIdle('m-0');
  await world.toConfigured('m-1');
  for (const id of ['m-0', 'm-1']) {
    assert.equal(await world.settle(world.provider.reportHostLost(id, 'preempted')), 'failed');
    const machine = await world.get(id);
    assert.equal(machine.state, MachineState.FAILED);
    assert.equal(machine.lastError, 'host lost: preempted');
    assert.notEqual(machine.host, undefined);
  }
  assert.equal(await world.settle(world.provider.reportHostLost('m-0', 'again')), 'ignored');
});

for (const name of ['configure', 'ready', 'drain'] as const) {
  test(`a reported loss ends the ${name} under way`, async () => {
    const world = await new World({ options }).start();
    if (name === 'drain') await world.toConfigured('m-0');
    else await world.toIdle('m-0');
    const cancelled: (() => boolean)[] = [];
    world.backend.script = (call) => {
      if (call.name !== name) return undefined;
      cancelled.push(() => call.signal.aborted);
      return new Promise(() => {});
    };
    const call =
      name === 'drain'
        ? world.client.drain({ machineId: 'm-0' })
        : world.client.configure(binding('m-0'));
    await world.settle(call);
    await world.run(100);
    assert.equal(await world.settle(world.provider.reportHostLost('m-0', 'crashed')), 'failed');
    assert.equal(cancelled[0]?.(), true);
    const machine = await world.get('m-0');
    assert.equal(machine.state, MachineState.FAILED);
    assert.equal(machine.lastError, 'host lost: crashed');
  });
}

test('a drain that ends well just before it could be stopped still loses its host', async () => {
  const world = await new World({ options }).start();
  await world.toConfigured('m-0');
  await world.settle(world.client.drain({ machineId: 'm-0' }));
  // A slow mark holds the machine; the report waits behind it, the drain's result behind that.
  world.store.before = () => sleep(world.time.runtime, 50);
  const token = { shardId: 's', shardEpoch: 1n, sequenceNumber: 1n };
  const replay = world.client.drain({ machineId: 'm-0', ...token });
  const reported = world.provider.reportHostLost('m-0', 'late news');
  assert.equal(await world.settle(reported), 'failed');
  assert.equal((await world.settle(replay)).machine?.state, MachineState.DRAINING);
  const machine = await world.get('m-0');
  assert.equal(machine.state, MachineState.FAILED);
  assert.equal(machine.lastError, 'host lost: late news');
  assert.equal(machine.cluster, '', 'it was Idle by then');
});

test('without a host, or on its way out, there is nothing to lose', async () => {
  const world = await new World({ options }).start();
  assert.equal(await world.settle(world.provider.reportHostLost('ghost', '')), 'ignored');
  assert.equal(await world.settle(world.provider.reportHostLost('m-0', '')), 'ignored');
  world.backend.script = ({ name }) => (name === 'delete' ? new Promise(() => {}) : undefined);
  await world.toIdle('m-0');
  await world.settle(world.client.delete({ machineId: 'm-0' }));
  assert.equal(await world.settle(world.provider.reportHostLost('m-0', '')), 'ignored');
  assert.equal((await world.get('m-0')).state, MachineState.DELETING);
});

const notices: readonly (readonly [InterruptionNotice, number])[] = [
  ['termination', 0.99],
  ['rebalance', 0.5],
  ['past_preemption', 0.9],
  ['unspecified', 1],
];

for (const [notice, probability] of notices) {
  test(`a ${notice} notice publishes ${probability} at once`, async () => {
    const world = await new World({ slots: [slot('m-0', spot)] }).start();
    const { host } = await world.toConfigured('m-0');
    const { revision } = await world.settle(world.client.list({}));
    const event = { hostRef: host?.ref ?? '', notice };
    assert.equal(await world.settle(world.provider.reportInterruption(event)), 'published');
    const delta = await world.settle(world.client.list({ sinceRevision: revision }));
    assert.equal(delta.machines[0]?.interruptionProbability, probability);
    assert.equal(await world.settle(world.provider.reportInterruption(event)), 'unchanged');
  });
}

test('an observation outlives refreshes and restarts, and ends with its host', async () => {
  const world = await new World({ slots: [slot('m-0', spot)] }).start();
  const { host } = await world.toIdle('m-0');
  const event = { hostRef: host?.ref ?? '', notice: 'termination' } as const;
  await world.settle(world.provider.reportInterruption(event));
  await world.settle(world.provider.reconcile());
  assert.equal((await world.get('m-0')).interruptionProbability, 0.99);
  world.crash();
  await world.start();
  assert.equal((await world.get('m-0')).interruptionProbability, 0.99);
  await world.settle(world.client.delete({ machineId: 'm-0' }));
  await world.run(1_000);
  assert.equal((await world.get('m-0')).interruptionProbability, 0.05);
  assert.equal(await world.settle(world.provider.reportInterruption(event)), 'foreign');
});

test('a forecast above the observation stays, and foreign hosts are ignored', async () => {
  const risky = { ...spot, interruptionProbability: 0.7 };
  const world = await new World({ slots: [slot('m-0', risky)] }).start();
  const { host } = await world.toIdle('m-0');
  const event = { hostRef: host?.ref ?? '', notice: 'rebalance' } as const;
  assert.equal(await world.settle(world.provider.reportInterruption(event)), 'unchanged');
  const foreign = { hostRef: 'i-of-somebody', notice: 'termination' } as const;
  assert.equal(await world.settle(world.provider.reportInterruption(foreign)), 'foreign');
});

test('a notice that could not be stored rejects, so that the queue keeps it', async () => {
  const world = await new World({ slots: [slot('m-0', spot)] }).start();
  const { host } = await world.toIdle('m-0');
  world.store.isFull = true;
  const event = { hostRef: host?.ref ?? '', notice: 'termination' } as const;
  await assert.rejects(world.settle(world.provider.reportInterruption(event)), {
    code: 'store_unavailable',
  });
  assert.equal((await world.get('m-0')).interruptionProbability, 0.05);
});
