// The inventory as a plain map, and the naive rebuild of every index from it: what the columns
// and indexes of the real one must agree with after any write. Slow and obvious on purpose.

import assert from 'node:assert/strict';
import { compareText } from '@bigfleet/base';
import { CapacityType } from '../model/capacity-type.ts';
import type { Machine } from '../model/machine.ts';
import { State, STATE_COUNT, type StateCode } from '../model/state.ts';
import {
  CELL,
  CLAIM,
  CLASS,
  type ClusterSupply,
  EFFECTIVE_PRIORITY,
  SLOT,
} from '../store/cluster-supply.ts';
import type { IdleHolds } from '../store/idle-holds.ts';
import type { Inventory } from '../store/inventory.ts';
import type { SortedSlots } from '../store/sorted-slots.ts';

/** What the inventory should hold: the record and, for Idle, since when (else 0). */
export interface Held {
  readonly machine: Machine;
  readonly idleSinceMs: number;
}

export type InventoryModel = Map<string, Held>;

const PRIORITIES = [-(2 ** 31), 0, 1, 1000, 2 ** 31 - 1];

export function assertInventoryEquals(inventory: Inventory, model: InventoryModel): void {
  checkRecords(inventory, model);
  checkRanks(inventory, model);
  checkInterners(inventory, model);
  checkCounts(inventory, model);
  checkPools(inventory, model);
  checkHolds(inventory, model);
  checkSupply(inventory, model);
  checkVictims(inventory, model);
}

/** Everything but the marks, as text: two equal answers mean that nothing changed. */
export function inventoryText(inventory: Inventory): string {
  const slots = Array.from({ length: inventory.slotCount }, (_, slot) => slot);
  const live = slots.filter((slot) => inventory.columns.state[slot] !== State.Unspecified);
  const rows = live.map((slot) => {
    const { labels, allocatable, ...rest } = inventory.read(slot);
    const { generation, idleSinceMs, rank } = inventory.columns;
    return [
      slot,
      rest,
      [...labels],
      [...allocatable],
      generation[slot],
      idleSinceMs[slot],
      rank[slot],
    ];
  });
  const { log, length } = inventory.classes;
  return JSON.stringify([rows, [...inventory.stateCounts], log, length, inventory.slotCount]);
}

function checkRecords(inventory: Inventory, model: InventoryModel): void {
  assert.equal(inventory.size, model.size);
  const slots = new Set<number>();
  for (const [id, held] of model) {
    const slot = inventory.slotOf(id);
    slots.add(slot);
    assert.equal(inventory.ids[slot], id);
    assert.deepEqual(inventory.read(slot), held.machine, id);
    assert.equal(inventory.columns.idleSinceMs[slot], held.idleSinceMs, `${id} idle since`);
  }
  assert.equal(slots.size, model.size, 'one id, one slot');
}

function checkRanks(inventory: Inventory, model: InventoryModel): void {
  const ids = [...model.keys()].sort(compareText);
  const ranks = ids.map((id) => inventory.columns.rank[inventory.slotOf(id)] ?? -1);
  assert.deepEqual(ranks, ranks.toSorted(byNumber), 'ranks compare like ids');
  assert.equal(new Set(ranks).size, ranks.length);
}

function checkInterners(inventory: Inventory, model: InventoryModel): void {
  const assigned = [...model.values()].map((held) => held.machine.assigned);
  const fingerprints = new Set(['', ...assigned.map(({ needFingerprint }) => needFingerprint)]);
  const groups = new Set(['', ...assigned.map(({ group }) => group)]);
  assert.equal(inventory.fingerprints.size, fingerprints.size, 'fingerprints leak');
  assert.equal(inventory.groups.size, groups.size, 'groups leak');
}

function checkCounts(inventory: Inventory, model: InventoryModel): void {
  const { classes } = inventory;
  const states = new Int32Array(STATE_COUNT);
  const cells = new Int32Array(classes.length * STATE_COUNT);
  const classByShape = new Map<string, number>();
  for (const [id, { machine }] of model) {
    const klass = classOf(inventory, id);
    assert.equal(classByShape.get(shapeKey(machine)) ?? klass, klass, 'one shape, one class');
    classByShape.set(shapeKey(machine), klass);
    bump(states, machine.state);
    bump(cells, klass * STATE_COUNT + machine.state);
  }
  const used = new Set(classByShape.values());
  assert.equal(used.size, classByShape.size, 'one class, one shape');
  assert.deepEqual(inventory.stateCounts, states);
  assert.deepEqual(classes.counts.slice(0, cells.length), cells);
  for (let klass = 0; klass < classes.length; klass++) {
    assert.equal(classes.shape(klass) !== undefined, used.has(klass), `class ${klass}`);
  }
}

function checkPools(inventory: Inventory, model: InventoryModel): void {
  const pools = [
    [State.Idle, inventory.idlePools],
    [State.Speculative, inventory.speculativePools],
    [State.Draining, inventory.drainingPools],
  ] as const;
  for (const [state, byClass] of pools) {
    for (let klass = 0; klass < inventory.classes.length; klass++) {
      const expected = members(model, (id, { machine }) => {
        const isOurs = machine.withheld === undefined;
        return isOurs && machine.state === state && classOf(inventory, id) === klass;
      });
      expected.sort((a, b) => bucketOf(model, a) - bucketOf(model, b) || compareText(a, b));
      assert.deepEqual(idsIn(inventory, slotsOf(byClass[klass])), expected, `pool of ${state}`);
    }
  }
}

function checkHolds(inventory: Inventory, model: InventoryModel): void {
  const queues = [
    [CapacityType.OnDemand, inventory.onDemandHolds],
    [CapacityType.Spot, inventory.spotHolds],
  ] as const;
  const stamps = [...model.values()].map(({ idleSinceMs }) => idleSinceMs);
  for (const [type, holds] of queues) {
    for (const latestMs of new Set([0, ...stamps.slice(0, 5), Number.POSITIVE_INFINITY])) {
      const expected = members(model, (_, { machine, idleSinceMs }) => {
        const isHeld = machine.state === State.Idle && machine.withheld === undefined;
        return isHeld && machine.capacityType === type && idleSinceMs <= latestMs;
      });
      const found = idsIn(inventory, expiredSlots(holds, latestMs));
      assert.deepEqual(found.sort(compareText), expected.sort(compareText), `hold of ${type}`);
    }
  }
}

function checkSupply(inventory: Inventory, model: InventoryModel): void {
  const named = [...model.values()].flatMap(({ machine }) => [
    machine.cluster,
    machine.intendedCluster,
  ]);
  for (const cluster of new Set(named)) {
    if (cluster === '') continue;
    const supply = inventory.supplyOf(inventory.clusterIndex(cluster));
    const sections = sectionsOf(inventory, supply);
    assert.deepEqual(sections, [
      keepOrder(model, isBoundTo(cluster, State.Configured)),
      keepOrder(model, isBoundTo(cluster, State.Configuring)),
      keepOrder(model, ({ machine }) => {
        return machine.state === State.Creating && machine.intendedCluster === cluster;
      }),
    ]);
    assert.equal(supply?.configuredCount ?? 0, sections[0]?.length ?? 0);
  }
}

function isBoundTo(cluster: string, state: StateCode): (held: Held) => boolean {
  return ({ machine }) => machine.state === state && machine.cluster === cluster;
}

/** Ids of the machines in a supply, section by section; each cell must say what the columns say. */
function sectionsOf(inventory: Inventory, supply: ClusterSupply | undefined): string[][] {
  const sections: string[][] = [[], [], []];
  if (supply === undefined) return sections;
  const { cells, configuredEnd, boundEnd, end } = supply;
  const { klass, effectivePriority } = inventory.columns;
  for (let at = 0; at < end; at += CELL) {
    const slot = cells[at + SLOT] ?? -1;
    assert.equal(cells[at + CLASS], klass[slot]);
    assert.equal(cells[at + EFFECTIVE_PRIORITY], effectivePriority[slot]);
    assert.equal(supply.isClaimed(slot), cells[at + CLAIM] !== 0);
    sections[at < configuredEnd ? 0 : at < boundEnd ? 1 : 2]?.push(inventory.ids[slot] ?? '?');
  }
  return sections;
}

/** Price, reclamation penalty from high to low, id. */
function keepOrder(model: InventoryModel, isMember: (held: Held) => boolean): string[] {
  const ids = members(model, (_, held) => isMember(held));
  return ids.sort(
    (a, b) =>
      priceOf(model, a) - priceOf(model, b) ||
      bucketOf(model, b) - bucketOf(model, a) ||
      compareText(a, b),
  );
}

function checkVictims(inventory: Inventory, model: InventoryModel): void {
  for (let klass = 0; klass < inventory.classes.length; klass++) {
    for (const priority of PRIORITIES) {
      const expected = members(model, (id, { machine }) => {
        const isVictim = machine.state === State.Configured && machine.withheld === undefined;
        const isBelow = machine.assigned.priority < priority;
        return isVictim && isBelow && classOf(inventory, id) === klass;
      });
      const found: number[] = [];
      inventory.victims.forEachBelow(klass, priority, (slot) => found.push(slot));
      assert.deepEqual(idsIn(inventory, found).sort(compareText), expected.sort(compareText));
      assert.equal(inventory.victims.hasBelow(klass, priority), expected.length > 0);
    }
  }
}

function members(model: InventoryModel, isMember: (id: string, held: Held) => boolean): string[] {
  return [...model].filter(([id, held]) => isMember(id, held)).map(([id]) => id);
}

function classOf(inventory: Inventory, id: string): number {
  return inventory.columns.klass[inventory.slotOf(id)] ?? -1;
}

function bucketOf(model: InventoryModel, id: string): number {
  return model.get(id)?.machine.assigned.reclamationBucket ?? -1;
}

function priceOf(model: InventoryModel, id: string): number {
  return model.get(id)?.machine.pricePerHour ?? -1;
}

function idsIn(inventory: Inventory, slots: Iterable<number>): string[] {
  return [...slots].map((slot) => inventory.ids[slot] ?? '?');
}

function slotsOf(pool: SortedSlots | undefined): number[] {
  const slots: number[] = [];
  for (let at = 0; at < (pool?.chunkCount ?? 0); at++) {
    slots.push(...(pool?.chunkAt(at).subarray(0, pool.lengthAt(at)) ?? []));
  }
  return slots;
}

function expiredSlots(holds: IdleHolds, latestMs: number): number[] {
  const slots: number[] = [];
  holds.forEachUntil(latestMs, (slot) => slots.push(slot));
  return slots;
}

function shapeKey(machine: Machine): string {
  const { provider, instanceType, zone, capacityType, pricePerHour, interruptionProbability } =
    machine;
  const shape = [provider, instanceType, zone, capacityType, pricePerHour, interruptionProbability];
  const sorted = <T>(entries: Iterable<[string, T]>): [string, T][] =>
    [...entries].sort(([a], [b]) => compareText(a, b));
  return JSON.stringify([...shape, sorted(machine.labels), sorted(machine.allocatable)]);
}

function bump(counts: Int32Array, at: number): void {
  counts[at] = (counts[at] ?? 0) + 1;
}

function byNumber(a: number, b: number): number {
  return a - b;
}
