// Proves that a joining replica finds the leader and the cluster past replicas that answer and know
// nothing: it asks the next one, follows a hint, and takes only the leader's own refusal for an answer.
// And what --join-addr is taken for: all addresses of a name with the name to verify, and a few dials
// of an address that stands for everybody.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { NOT_LEADER } from '../ledger/outcome.ts';
import { joinPort, replicaAddresses } from './join-port.ts';
import { CoordinatorStage } from './testing/coordinator-stage.ts';

/** The stage's engine cannot be joined, and only its leader says so. */
const LEADERS_WORD = /store engine sqlite is single-replica/;

const UNFORMED = 'node-9';
const LEADER = 'node-0';
const FOLLOWER = 'node-1';
const NOBODY = 'nobody';

/** A replica that is not formed, a leader, a follower; for less than a second of virtual time. */
async function asked(nodes: readonly string[]) {
  const stage = new CoordinatorStage();
  await stage.start(UNFORMED, { bootstrap: false });
  await stage.start(LEADER);
  await stage.start(FOLLOWER);
  const dialled: string[] = [];
  const port = joinPort({
    runtime: stage.time.runtime,
    nodeId: UNFORMED,
    raftAddress: 'node-9:7791',
    addresses: async () => nodes.map((node) => ({ target: `${node}:7790` })),
    dial: ({ target }) => {
      dialled.push(target.slice(0, target.indexOf(':')));
      return stage.network.connect({ from: UNFORMED, to: target });
    },
  });
  const { signal } = new AbortController();
  return { stage, port, dialled, signal };
}

const JOINS: readonly (readonly [from: readonly string[], to: readonly string[], word: RegExp])[] =
  [
    [[LEADER], [LEADER], LEADERS_WORD],
    [[UNFORMED, LEADER], [UNFORMED, LEADER], LEADERS_WORD],
    [[NOBODY, UNFORMED, LEADER], [NOBODY, UNFORMED, LEADER], LEADERS_WORD],
    [[FOLLOWER, UNFORMED], [FOLLOWER, LEADER], LEADERS_WORD],
    [[LEADER, UNFORMED], [LEADER], LEADERS_WORD],
    [[UNFORMED, UNFORMED], [UNFORMED, UNFORMED], new RegExp(NOT_LEADER)],
  ];

for (const [from, to, word] of JOINS) {
  test(`join by ${from.join(', ')}: asks ${to.join(', ')}`, async () => {
    const { stage, port, dialled, signal } = await asked(from);
    await assert.rejects(stage.run(port.join(true, signal), 300), word);
    assert.deepEqual(dialled, to);
  });
}

const PROBES: readonly (readonly [from: readonly string[], isFound: boolean])[] = [
  [[UNFORMED], false],
  [[NOBODY, UNFORMED], false],
  [[UNFORMED, FOLLOWER], true],
  [[NOBODY, UNFORMED, LEADER], true],
];

for (const [from, isFound] of PROBES) {
  test(`a cluster behind ${from.join(', ')}: ${isFound}`, async () => {
    const { stage, port, signal } = await asked(from);
    const uid = await stage.run(port.clusterUid(signal), 300);
    assert.equal(uid, isFound ? stage.disk.meta?.clusterUid : undefined);
    assert.equal(uid === undefined, !isFound);
  });
}

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
