// Proves that every index of the inventory equals a naive rebuild from its records after any
// sequence of writes, that refused records change nothing, and that what a write touches is marked.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AssertionError, createRandom, type PenaltyBucket, type Random } from '@bigfleet/base';
import { CapacityType, type CapacityTypeCode } from '../model/capacity-type.ts';
import { type Assignment, type Machine, noAssignment } from '../model/machine.ts';
import { gridOf, isLegalTransition, State, type StateCode } from '../model/state.ts';
import { cores, machine, type MachineInit } from '../testing/build.ts';
import {
  assertInventoryEquals,
  type Held,
  type InventoryModel,
  inventoryText,
} from '../testing/inventory-model.ts';
import { Inventory, type MoveChanges } from './inventory.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'inventory-1';
const NOW_MS = 1000;
const HOST = { provider: 'provider', ref: 'host' };
const STATES: readonly StateCode[] = [1, 2, 3, 4, 5, 6, 7, 8];

function stocked(...records: readonly MachineInit[]): Inventory {
  const inventory = new Inventory();
  for (const init of records) assert.ok(inventory.put(machine(init), NOW_MS).ok);
  return inventory;
}

function slotIn(inventory: Inventory, id: string): number {
  const slot = inventory.slotOf(id);
  assert.ok(slot >= 0, id);
  return slot;
}

test('a record reads back as it was written', () => {
  const inventory = new Inventory();
  for (const state of STATES) {
    const name = `m${state}`;
    const record: Machine = {
      ...machine({ id: name, labels: { a: 'b' }, probability: 0.5, price: 3, rack: 'r' }),
      state,
      host: gridOf(state).host === 'empty' ? undefined : HOST,
      cluster: gridOf(state).cluster === 'set' ? 'c' : '',
      lastError: state === State.Failed ? 'lost' : '',
      assigned:
        state === State.Speculative
          ? noAssignment
          : { ...noAssignment, priority: -5, needFingerprint: 'fp', group: 'g\0' },
      intendedCluster: state === State.Creating ? 'c' : '',
      withheld: 'transfer_frozen',
    };
    assert.ok(inventory.put(record, NOW_MS).ok);
    assert.deepEqual(inventory.read(slotIn(inventory, name)), record);
  }
  assert.equal(inventory.size, 8);
});

test('a refused record changes nothing at all', () => {
  const inventory = stocked({ id: 'a' }, { id: 'b', state: 'Configured', cluster: 'c' });
  const before = inventoryText(inventory);
  inventory.dirtyClusters.clear();
  inventory.flippedClasses.clear();
  const good = machine({ id: 'a' });
  for (const [record, code] of [
    [{ ...good, pricePerHour: Number.NaN }, 'price'],
    [{ ...good, pricePerHour: -1 }, 'price'],
    [{ ...good, interruptionProbability: 1.1 }, 'interruption_probability'],
    [{ ...good, state: 0 as number as StateCode }, 'structural'],
    [{ ...good, state: 9 as number as StateCode }, 'structural'],
    [{ ...good, capacityType: 0 as number as CapacityTypeCode }, 'structural'],
    [{ ...good, host: undefined }, 'structural'],
    [{ ...good, cluster: 'c' }, 'structural'],
    [{ ...good, id: '' }, 'structural'],
    [{ ...good, id: 'new', pricePerHour: -1 }, 'price'],
    [{ ...good, provider: 'another' }, 'duplicate_id'],
  ] as const) {
    assert.deepEqual(inventory.put(record, NOW_MS + 1), { ok: false, error: code });
    assert.equal(inventoryText(inventory), before, code);
    assert.equal(inventory.dirtyClusters.size + inventory.flippedClasses.size, 0);
  }
  assert.equal(inventory.slotOf('new'), -1);
});

test('the id of a removed machine is free for another provider', () => {
  const inventory = stocked({ id: 'a' });
  inventory.remove('a');
  assert.ok(inventory.put(machine({ id: 'a', provider: 'another' }), NOW_MS).ok);
});

test('a removed machine is gone, and its slot is another generation', () => {
  const inventory = stocked({ id: 'a' });
  const slot = slotIn(inventory, 'a');
  const generation = inventory.columns.generation[slot] ?? -1;
  assert.ok(inventory.remove('a'));
  assert.equal(inventory.remove('a'), false);
  assert.equal(inventory.slotOf('a'), -1);
  assert.ok(inventory.put(machine({ id: 'b' }), NOW_MS).ok);
  assert.equal(inventory.slotOf('b'), slot);
  assert.equal(inventory.columns.generation[slot], generation + 1);
});

test('an unchanged record defines no class anew', () => {
  const inventory = stocked({ id: 'a', state: 'Configured', cluster: 'c' });
  const before = inventory.classes.log.length;
  for (let times = 0; times < 5; times++) {
    assert.ok(inventory.put(machine({ id: 'a', state: 'Configured', cluster: 'c' }), NOW_MS).ok);
  }
  assert.equal(inventory.classes.log.length, before, 'caches over classes would be rebuilt');
});

test('what a provider observes may jump', () => {
  for (const from of STATES) {
    for (const to of STATES) {
      const inventory = new Inventory();
      assert.ok(inventory.put(inState(machine({ id: 'm' }), from), NOW_MS).ok);
      assert.ok(inventory.put(inState(machine({ id: 'm' }), to), NOW_MS).ok);
      assert.equal(inventory.columns.state[slotIn(inventory, 'm')], to);
    }
  }
});

test('our own moves walk legal edges only; anything else is a bug', () => {
  for (const from of STATES) {
    for (const to of STATES) {
      const inventory = new Inventory();
      assert.ok(inventory.put(inState(machine({ id: 'm' }), from), NOW_MS).ok);
      const slot = slotIn(inventory, 'm');
      const changes = { host: HOST, cluster: 'c', lastError: 'lost' };
      const move = (): void => inventory.move(slot, to, changes, NOW_MS);
      if (!isLegalTransition(from, to)) assert.throws(move, AssertionError, `${from} → ${to}`);
    }
  }
});

test('a move that leaves the grid is a bug', () => {
  const cases: readonly [StateCode, StateCode, MoveChanges][] = [
    [State.Creating, State.Idle, {}],
    [State.Creating, State.Idle, { host: { provider: '', ref: '' } }],
    [State.Idle, State.Configuring, {}],
    [State.Configuring, State.Failed, {}],
    [State.Configuring, State.Failed, { lastError: '' }],
  ];
  for (const [from, to, changes] of cases) {
    const inventory = new Inventory();
    assert.ok(inventory.put(inState(machine({ id: 'm' }), from), NOW_MS).ok);
    const slot = slotIn(inventory, 'm');
    assert.throws(() => inventory.move(slot, to, changes, NOW_MS), AssertionError);
  }
});

test('a field merge of a Creating or Failed machine keeps what it does not mention', () => {
  const inventory = stocked({ id: 'm', state: 'Speculative' });
  const slot = slotIn(inventory, 'm');
  const assigned = { ...noAssignment, needFingerprint: 'fp', group: 'g' };
  inventory.move(slot, State.Creating, { intendedCluster: 'c', assigned }, NOW_MS);
  inventory.move(slot, State.Creating, {}, NOW_MS);
  assert.equal(inventory.read(slot).intendedCluster, 'c');
  assert.deepEqual(inventory.read(slot).assigned, assigned);
  inventory.move(slot, State.Failed, { lastError: 'create: no' }, NOW_MS);
  inventory.move(slot, State.Failed, {}, NOW_MS);
  assert.equal(inventory.read(slot).lastError, 'create: no');
  assert.equal(inventory.read(slot).intendedCluster, '');
});

test('one machine through its whole life', () => {
  const inventory = stocked({ id: 'm', state: 'Speculative', price: 2 });
  const slot = slotIn(inventory, 'm');
  const creating = { ...noAssignment, needFingerprint: 'fp', group: 'g' };
  const configured = { ...creating, priority: 9, reclamationBucket: 4 as PenaltyBucket };
  const steps: readonly [StateCode, MoveChanges, Partial<Machine>][] = [
    [
      State.Creating,
      { assigned: creating, intendedCluster: 'c' },
      { assigned: creating, intendedCluster: 'c' },
    ],
    [State.Idle, { host: HOST }, { host: HOST, assigned: noAssignment, intendedCluster: '' }],
    [State.Configuring, { cluster: 'c', assigned: creating }, { cluster: 'c', assigned: creating }],
    [State.Configured, { assigned: configured }, { cluster: 'c', assigned: configured }],
    [State.Draining, {}, { cluster: 'c', assigned: configured, host: HOST }],
    [State.Idle, {}, { cluster: '', assigned: noAssignment, host: HOST }],
    [State.Deleting, {}, { host: HOST, cluster: '' }],
    [State.Speculative, {}, { host: undefined, cluster: '' }],
  ];
  for (const [state, changes, expected] of steps) {
    inventory.move(slot, state, changes, NOW_MS);
    const read = inventory.read(slot);
    assert.deepEqual({ ...read, ...expected, state }, read);
    const held = { machine: read, idleSinceMs: state === State.Idle ? NOW_MS : 0 };
    assertInventoryEquals(inventory, new Map([['m', held]]));
  }
});

test('idle-since: stamped on entry, kept by merges, dropped on leaving', () => {
  const inventory = stocked({ id: 'm' });
  const slot = slotIn(inventory, 'm');
  const since = (): number => inventory.columns.idleSinceMs[slot] ?? -1;
  assert.equal(since(), NOW_MS, 'discovery');
  assert.ok(inventory.put(machine({ id: 'm', price: 7 }), NOW_MS + 1).ok);
  assert.equal(since(), NOW_MS, 'a merge of another class keeps it');
  inventory.move(slot, State.Idle, {}, NOW_MS + 2);
  inventory.withhold(slot, 'transfer_frozen');
  inventory.withhold(slot, undefined);
  assert.equal(since(), NOW_MS, 'so do our own writes');
  inventory.move(slot, State.Configuring, { cluster: 'c' }, NOW_MS + 3);
  assert.equal(since(), 0, 'leaving drops it');
  inventory.move(slot, State.Idle, {}, NOW_MS + 4);
  assert.equal(since(), NOW_MS + 4, 'rollback stamps');
  assert.ok(inventory.put(machine({ id: 'm', state: 'Configured', cluster: 'c' }), NOW_MS + 5).ok);
  assert.equal(since(), 0);
  assert.ok(inventory.put(machine({ id: 'm' }), NOW_MS + 6).ok);
  assert.equal(since(), NOW_MS + 6, 'so does what reconcile observes');
  inventory.setIdleSince(slot, 5);
  assert.equal(since(), 5);
});

test('a withheld machine is in no pool, no hold and no victim list, but stays supply', () => {
  const inventory = stocked(
    { id: 'idle', withheld: 'not_owned' },
    { id: 'speculative', state: 'Speculative', withheld: 'transfer_reserved' },
    { id: 'bound', state: 'Configured', cluster: 'c', withheld: 'transfer_frozen' },
    { id: 'draining', state: 'Draining', cluster: 'c', withheld: 'transfer_frozen' },
  );
  const model: InventoryModel = new Map();
  for (const id of inventory.ids) {
    const read = inventory.read(slotIn(inventory, id));
    model.set(id, { machine: read, idleSinceMs: id === 'idle' ? NOW_MS : 0 });
  }
  assertInventoryEquals(inventory, model);
  const supply = inventory.supplyOf(inventory.clusterIndex('c'));
  assert.equal(supply?.configuredCount, 1);
});

test(`random writes: every index, every mark, no leak (seed ${SEED})`, () => {
  const random = createRandom(SEED);
  for (let run = 0; run < 6; run++) runRandomWrites(random.stream(`run-${run}`), 250);
});

function runRandomWrites(random: Random, stepCount: number): void {
  const inventory = new Inventory();
  const model: InventoryModel = new Map();
  let nowMs = NOW_MS;
  for (let step = 0; step < stepCount; step++) {
    nowMs += random.below(5);
    const before = marksOf(inventory, model);
    inventory.dirtyClusters.clear();
    inventory.flippedClasses.clear();
    randomWrite(random, inventory, model, nowMs);
    assertInventoryEquals(inventory, model);
    assertMarked(inventory, before, marksOf(inventory, model));
  }
  for (const id of model.keys()) {
    assert.ok(inventory.remove(id));
    model.delete(id);
  }
  assertInventoryEquals(inventory, model);
}

function randomWrite(
  random: Random,
  inventory: Inventory,
  model: InventoryModel,
  nowMs: number,
): void {
  const id = `m${random.below(30)}`;
  const known = model.get(id);
  const choice = random.below(10);
  if (known === undefined || choice < 4) return randomPut(random, inventory, model, id, nowMs);
  if (choice < 8) return randomMove(random, inventory, model, known, nowMs);
  if (choice === 8) {
    const reason = pick(random, [undefined, 'not_owned', 'transfer_frozen'] as const);
    inventory.withhold(inventory.slotOf(id), reason);
    model.set(id, { ...known, machine: { ...known.machine, withheld: reason } });
    return;
  }
  assert.ok(inventory.remove(id));
  model.delete(id);
}

function randomPut(
  random: Random,
  inventory: Inventory,
  model: InventoryModel,
  id: string,
  nowMs: number,
): void {
  const record = randomRecord(random, id);
  const known = model.get(id);
  const result = inventory.put(record, nowMs);
  if (known !== undefined && known.machine.provider !== record.provider) {
    assert.deepEqual(result, { ok: false, error: 'duplicate_id' });
    return;
  }
  assert.ok(result.ok);
  model.set(id, heldAfter(known, record, nowMs));
}

function heldAfter(known: Held | undefined, record: Machine, nowMs: number): Held {
  if (record.state !== State.Idle) return { machine: record, idleSinceMs: 0 };
  const wasIdle = known?.machine.state === State.Idle;
  return { machine: record, idleSinceMs: wasIdle ? known.idleSinceMs : nowMs };
}

function randomMove(
  random: Random,
  inventory: Inventory,
  model: InventoryModel,
  known: Held,
  nowMs: number,
): void {
  const from = known.machine.state;
  const to = pick(
    random,
    STATES.filter((state) => isLegalTransition(from, state)),
  );
  const assigned = randomAssignment(random);
  const cluster = pick(random, ['a', 'b']);
  const changes: MoveChanges = {
    ...(from === State.Creating && to === State.Idle ? { host: HOST } : {}),
    ...(gridOf(to).cluster === 'set' && from === State.Idle ? { cluster } : {}),
    ...(to === State.Failed ? { lastError: 'lost' } : {}),
    ...(to === State.Creating ? { intendedCluster: cluster } : {}),
    ...(random.below(2) === 0 ? { assigned } : {}),
  };
  inventory.move(inventory.slotOf(known.machine.id), to, changes, nowMs);
  const isUnbound = to === State.Idle || to === State.Speculative;
  const moved: Machine = {
    ...known.machine,
    state: to,
    host: to === State.Speculative ? undefined : (changes.host ?? known.machine.host),
    cluster: isUnbound ? '' : (changes.cluster ?? known.machine.cluster),
    lastError: changes.lastError ?? known.machine.lastError,
    assigned: isUnbound ? noAssignment : (changes.assigned ?? known.machine.assigned),
    intendedCluster: changes.intendedCluster ?? '',
  };
  model.set(moved.id, heldAfter(known, moved, nowMs));
}

function randomRecord(random: Random, id: string): Machine {
  const state = pick(random, STATES);
  const shape = machine({
    id,
    provider: random.below(12) === 0 ? 'other' : 'provider',
    price: pick(random, [0, 1, 1, 2]),
    type: pick(random, ['small', 'large']),
    capacityType: pick(random, [CapacityType.OnDemand, CapacityType.Spot, CapacityType.Reserved]),
    has: cores(1 + random.below(2)),
  });
  return {
    ...inState(shape, state, pick(random, ['a', 'b', 'c'])),
    assigned: state === State.Speculative ? noAssignment : randomAssignment(random),
    withheld: random.below(10) === 0 ? 'transfer_reserved' : undefined,
  };
}

function inState(record: Machine, state: StateCode, cluster = 'c'): Machine {
  const grid = gridOf(state);
  return {
    ...record,
    state,
    host: grid.host === 'empty' ? undefined : HOST,
    cluster: grid.cluster === 'set' ? cluster : '',
    lastError: state === State.Failed ? 'lost' : '',
    intendedCluster: state === State.Creating ? cluster : '',
  };
}

function randomAssignment(random: Random): Assignment {
  return {
    priority: pick(random, [-(2 ** 31), 0, 1, 2 ** 31 - 1]),
    interruptionBucket: pick(random, [1, 27]) as PenaltyBucket,
    reclamationBucket: pick(random, [1, 1, 5]) as PenaltyBucket,
    needFingerprint: pick(random, ['', 'f1', 'f2']),
    group: pick(random, ['', 'g1', 'g2']),
  };
}

/** What a cycle remembers about clusters and classes, and must hear of when it changes. */
interface Marks {
  readonly supply: ReadonlyMap<string, string>;
  readonly acquirable: ReadonlyMap<number, boolean>;
}

function marksOf(inventory: Inventory, model: InventoryModel): Marks {
  const supply = new Map<string, string>();
  for (const [id, { machine: each }] of model) {
    const { state, cluster, intendedCluster } = each;
    const isSupply = state === State.Configured || state === State.Configuring;
    const name = isSupply ? cluster : state === State.Creating ? intendedCluster : '';
    if (name === '') continue;
    const { labels, allocatable, ...rest } = each;
    const text = JSON.stringify([id, rest, [...labels], [...allocatable]]);
    supply.set(name, (supply.get(name) ?? '') + text);
  }
  const acquirable = new Map<number, boolean>();
  for (let klass = 0; klass < inventory.classes.length; klass++) {
    const idle = inventory.idlePools[klass]?.size ?? 0;
    acquirable.set(klass, idle + (inventory.speculativePools[klass]?.size ?? 0) > 0);
  }
  return { supply, acquirable };
}

function assertMarked(inventory: Inventory, before: Marks, after: Marks): void {
  for (const name of new Set([...before.supply.keys(), ...after.supply.keys()])) {
    if (before.supply.get(name) === after.supply.get(name)) continue;
    assert.ok(inventory.dirtyClusters.has(inventory.clusterIndex(name)), `${name} is not marked`);
  }
  for (const klass of new Set([...before.acquirable.keys(), ...after.acquirable.keys()])) {
    const was = before.acquirable.get(klass) ?? false;
    if (was === (after.acquirable.get(klass) ?? false)) continue;
    assert.ok(inventory.flippedClasses.has(klass), `class ${klass} is not marked`);
  }
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}

test('without indexes: the same slots, generations, records and counts', () => {
  const indexed = new Inventory();
  const plain = new Inventory({ isIndexed: false });
  const both = [indexed, plain];
  for (const inventory of both) {
    for (const id of ['a', 'b', 'c']) assert.ok(inventory.put(machine({ id }), NOW_MS).ok);
    inventory.remove('b');
    assert.ok(inventory.put(machine({ id: 'd', state: 'Speculative' }), NOW_MS).ok);
    inventory.move(slotIn(inventory, 'd'), State.Creating, { intendedCluster: 'c' }, NOW_MS);
    inventory.withhold(slotIn(inventory, 'a'), 'transfer_frozen');
  }
  assert.deepEqual(plain.ids, indexed.ids);
  for (const [slot, id] of indexed.ids.entries()) {
    assert.deepEqual(plain.read(slot), indexed.read(slot), id);
    assert.equal(plain.columns.generation[slot], indexed.columns.generation[slot]);
  }
  assert.deepEqual(plain.stateCounts, indexed.stateCounts);
  assert.deepEqual(plain.classes.counts, indexed.classes.counts);
  assert.equal(plain.idlePools.length, 0);
  assert.throws(() => plain.protect(0, 1), /protects nothing/);
});
