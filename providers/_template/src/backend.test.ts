// Proves what certification cannot see: hosts map back to their slots, a launch is idempotent by
// its token, an aborted step leaves nothing behind, and prices are honest.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import type { MachineRecord, Offering } from '@bigfleet/providerkit';
import { SubstrateBackend } from './backend.ts';
import { MemorySubstrate } from './memory-substrate.ts';

const offering: Offering = {
  instanceType: 'example-standard-4',
  zone: 'example-zone-a',
  capacityType: 'Spot',
  count: 2,
  resources: new Map([['cpu', '1']]),
  labels: new Map(),
  pricePerHour: undefined,
  extra: new Map(),
};
const slot = 'example/Spot/example-standard-4/example-zone-a/000';
const { signal } = new AbortController();

function backend(): SubstrateBackend {
  const substrate = new MemorySubstrate(realRuntime().timers);
  return new SubstrateBackend({ label: 'example', offerings: [offering], substrate });
}

function machine(host?: MachineRecord['host']): MachineRecord {
  return {
    id: slot,
    state: 'Creating',
    ...(host === undefined ? {} : { host }),
    instanceType: offering.instanceType,
    zone: offering.zone,
    capacityType: offering.capacityType,
    pricePerHour: 0.06,
    interruptionProbability: 0.001,
    resources: offering.resources,
    labels: offering.labels,
    lastError: '',
    cluster: '',
    shardMetadata: new Map(),
    modifiedRevision: 1,
  };
}

test('slots without a host have none, and honest costs', async () => {
  const instances = await backend().describe({ signal });
  assert.deepEqual(
    instances.map(({ id, host }) => [id, host]),
    [
      [slot, undefined],
      [slot.replace('000', '001'), undefined],
    ],
  );
  for (const { pricePerHour, interruptionProbability } of instances) {
    assert.equal(pricePerHour, 0.06);
    assert.ok(interruptionProbability > 0 && interruptionProbability < 0.01);
  }
});

test('a launched host is found at its slot, once, however often its token comes', async () => {
  const subject = backend();
  const order = { machine: machine(), operationId: 'op-1', signal };
  const first = await subject.createInstance(order);
  const second = await subject.createInstance(order);
  assert.deepEqual(second, first);
  const hosts = (await subject.describe({ signal })).map(({ host }) => host);
  assert.deepEqual(hosts, [first.host, undefined]);
});

test('a deleted host leaves its slot, and deleting it again is fine', async () => {
  const subject = backend();
  const { host } = await subject.createInstance({
    machine: machine(),
    operationId: 'op-1',
    signal,
  });
  await subject.deleteInstance({ machine: machine(host), operationId: 'op-2', signal });
  await subject.deleteInstance({ machine: machine(host), operationId: 'op-2', signal });
  assert.ok((await subject.describe({ signal })).every((instance) => instance.host === undefined));
});

test('a host that is not there cannot join', async () => {
  const lost = machine({ provider: 'example', ref: 'i-nobody' });
  const order = { clusterId: 'blue', bootstrapBlob: new Uint8Array(), operationId: 'op', signal };
  await assert.rejects(
    backend().configureInstance({ machine: lost, ...order }),
    /no host i-nobody/,
  );
});

test('an abort ends the step at once and launches nothing', async () => {
  const subject = backend();
  const abort = new AbortController();
  const launched = subject.createInstance({
    machine: machine(),
    operationId: 'op-1',
    signal: abort.signal,
  });
  abort.abort(new Error('the transition took too long'));
  await assert.rejects(launched, /took too long/);
  assert.ok((await subject.describe({ signal })).every((instance) => instance.host === undefined));
});
