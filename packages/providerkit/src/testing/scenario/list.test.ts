// Proves List (provider-contract §9): filters, caps, cursors that lose nothing, samples that vary, garbage
// that means a full list, and that following deltas gives the same picture as a full list.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { type MachineList, MachineState } from '@bigfleet/wire';
import { binding, slot, World } from './world.ts';

const { SPECULATIVE, IDLE, CONFIGURED, FAILED } = MachineState;

function fleetOf(count: number): World {
  return new World({ slots: Array.from({ length: count }, (_, i) => slot(`m-${i}`)) });
}

test('a filter is an exact union; unknown states match nothing; no filter is everything', async () => {
  const world = await fleetOf(6).start();
  await world.toIdle('m-1');
  await world.toConfigured('m-2');
  assert.deepEqual(await ids(world, { states: [IDLE] }), ['m-1']);
  assert.deepEqual(await ids(world, { states: [IDLE, CONFIGURED] }), ['m-1', 'm-2']);
  assert.deepEqual(await ids(world, { states: [SPECULATIVE] }), ['m-0', 'm-3', 'm-4', 'm-5']);
  assert.deepEqual(await ids(world, { states: [FAILED, 0, 99, -1] as never }), []);
  assert.equal((await ids(world, {})).length, 6);
  assert.equal((await ids(world, { maxResults: -3 })).length, 6);
});

test('garbage cursors are a full list, never an error', async () => {
  const world = await fleetOf(4).start();
  const { revision } = await list(world, {});
  const text = new TextEncoder();
  const strange = [
    new Uint8Array(0),
    text.encode('nonsense'),
    new Uint8Array(4_096).fill(0xde),
    new Uint8Array([...revision, 0x21]),
  ];
  for (const sinceRevision of strange) {
    assert.equal((await ids(world, { sinceRevision })).length, 4);
  }
  assert.equal((await ids(world, { sinceRevision: revision })).length, 0);
});

test('a cursor of another incarnation or beyond the head is a full list', async () => {
  const world = await fleetOf(3).start();
  await world.toIdle('m-0');
  const { revision } = await list(world, {});
  const reborn = await fleetOf(3).start();
  assert.equal((await ids(reborn, { sinceRevision: revision })).length, 3);
});

test('a delta is exactly what changed, and every change moves the revision', async () => {
  const world = await fleetOf(10).start();
  let { revision } = await list(world, {});
  const seen = new Set([String(revision)]);
  for (const id of ['m-1', 'm-4', 'm-7']) {
    await world.settle(world.client.create({ machineId: id }));
    const accepted = await list(world, { sinceRevision: revision });
    assert.deepEqual(
      accepted.machines.map((machine) => machine.id),
      [id],
    );
    assert.ok(!seen.has(String(accepted.revision)));
    seen.add(String(accepted.revision));
    await world.run(100);
    const settled = await list(world, { sinceRevision: accepted.revision });
    assert.deepEqual(
      settled.machines.map((machine) => [machine.id, machine.state]),
      [[id, IDLE]],
    );
    revision = settled.revision;
  }
  assert.deepEqual((await list(world, { sinceRevision: revision })).machines, []);
});

for (const cap of [1, 2, 3, 7]) {
  test(`pages of ${cap} threaded from no cursor cover the fleet without repeats`, async () => {
    const world = await fleetOf(20).start();
    for (const id of ['m-3', 'm-9', 'm-3'])
      await world.settle(world.client.create({ machineId: id }));
    await world.run(1_000);
    const seen: string[] = [];
    let sinceRevision: Uint8Array = new Uint8Array(0);
    for (let page = 0; page < 40; page++) {
      const answer = await list(world, { sinceRevision, maxResults: cap });
      assert.ok(answer.machines.length <= cap);
      if (answer.machines.length === 0) break;
      seen.push(...answer.machines.map(({ id }) => id));
      sinceRevision = answer.revision;
    }
    assert.equal(new Set(seen).size, seen.length);
    assert.equal(seen.length, 20);
  });
}

test('a truncated delta carries the cursor of the last record examined, filter or not', async () => {
  const world = await fleetOf(12).start();
  const { revision: start } = await list(world, {});
  for (let i = 0; i < 8; i++) await world.toIdle(`m-${i}`);
  for (const states of [[], [IDLE]]) {
    const seen: string[] = [];
    let sinceRevision = start;
    for (let page = 0; page < 10; page++) {
      const answer = await list(world, { sinceRevision, maxResults: 3, states });
      if (answer.machines.length === 0) break;
      seen.push(...answer.machines.map(({ id }) => id));
      sinceRevision = answer.revision;
    }
    assert.deepEqual(
      seen.toSorted(),
      Array.from({ length: 8 }, (_, i) => `m-${i}`),
    );
  }
});

test('a capped, filtered sample rotates and returns the zero point', async () => {
  const world = await fleetOf(10).start();
  await world.toIdle('m-2');
  const samples: string[] = [];
  for (let i = 0; i < 9; i++) {
    const answer = await list(world, { states: [SPECULATIVE], maxResults: 1 });
    samples.push(...answer.machines.map(({ id }) => id));
    const all = await ids(world, { sinceRevision: answer.revision });
    assert.equal(all.length, 10, 'threading a sample loses nothing');
  }
  assert.equal(new Set(samples).size, 9);
  assert.ok(!samples.includes('m-2'));
  const many = await ids(world, { states: [SPECULATIVE], maxResults: 50 });
  assert.equal(new Set(many).size, 9);
});

test('following deltas gives the same picture as a full list, through random churn', async () => {
  const world = await fleetOf(16).start();
  const random = createRandom('deltas');
  const known = new Map<string, unknown>();
  let sinceRevision: Uint8Array = new Uint8Array(0);
  for (let round = 0; round < 120; round++) {
    for (let i = 0; i < 3; i++)
      await world.codeOf(randomCall(world, random.below(16), random.below(4)));
    await world.run(random.below(20));
    const maxResults = random.below(3) === 0 ? 2 : 0;
    const delta = await list(world, { sinceRevision, maxResults });
    for (const machine of delta.machines) known.set(machine.id, machine);
    sinceRevision = delta.revision;
  }
  const last = await list(world, { sinceRevision });
  for (const machine of last.machines) known.set(machine.id, machine);
  const { machines } = await list(world, {});
  assert.deepEqual(known, new Map(machines.map((machine) => [machine.id, machine])));
});

interface Query {
  readonly states?: readonly MachineState[];
  readonly maxResults?: number;
  readonly sinceRevision?: Uint8Array;
}

function list(world: World, query: Query): Promise<MachineList> {
  return world.settle(world.client.list({ ...query, states: [...(query.states ?? [])] }));
}

async function ids(world: World, query: Query): Promise<readonly string[]> {
  const { machines } = await list(world, query);
  assert.equal(new Set(machines.map(({ id }) => id)).size, machines.length, 'no duplicates');
  return machines.map(({ id }) => id).toSorted();
}

function randomCall(world: World, machine: number, kind: number): Promise<unknown> {
  const machineId = `m-${machine}`;
  const { client } = world;
  if (kind === 0) return client.create({ machineId });
  if (kind === 1) return client.configure(binding(machineId));
  return kind === 2 ? client.drain({ machineId }) : client.delete({ machineId });
}
