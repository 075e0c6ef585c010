// Proves what --join-addr is taken for: all addresses of a name with the name to verify, and a few
// dials of an address that stands for everybody.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { replicaAddresses } from './join-port.ts';

const { runtime } = createVirtualRuntime({ seed: 'addresses', drain: drainMicrotasks });
const { signal } = new AbortController();

for (const address of ['127.0.0.1:7790', '[::1]:7790']) {
  test(`${address} is dialled four times`, async () => {
    const found = await replicaAddresses(address, runtime.random, signal);
    assert.deepEqual(
      found,
      Array.from({ length: 4 }, () => ({ target: address })),
    );
  });
}

test('a name is every address that it has, or a few dials of the one', async () => {
  const found = await replicaAddresses('localhost:7790', runtime.random, signal);
  const targets = found.map(({ target }) => target);
  assert.ok(targets.every((target) => /^(127\.0\.0\.1|\[::1\]|localhost):7790$/.test(target)));
  const isNamed = found.every(({ serverName }) => serverName === 'localhost');
  assert.ok(isNamed || targets.every((target) => target === 'localhost:7790'), targets.join());
});

test('a name that nobody knows is the resolver’s error', async () => {
  await assert.rejects(replicaAddresses('no.such.name.invalid:1', runtime.random, signal));
});
