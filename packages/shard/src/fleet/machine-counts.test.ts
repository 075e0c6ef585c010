// Proves that the running counts of the fleet are what a walk over its machines finds, after any
// sequence of writes: Lists, actions, answers, removals and machines that are forgotten.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createRandom,
  createVirtualRuntime,
  HALF_DOLLAR_BUCKET,
  PENALTY_BUCKETS,
  PINNED_BUCKET,
  type Random,
  ZERO_BUCKET,
} from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import {
  CapacityType,
  gridOf,
  isBound,
  isLegalTransition,
  isStateCode,
  type Machine,
  noAssignment,
  State,
  type StateCode,
} from '@bigfleet/engine';
import { createInlineHost } from '../engine-host/inline-host.ts';
import { machineOf } from '../engine-host/testing/random-inputs.ts';
import type { IngestChange } from '../provider/reconcile/ingest.ts';
import { Fleet } from './fleet.ts';

const STATES = Object.values(State).filter(isStateCode);
const TYPES = Object.values(CapacityType);
const BUCKETS = [ZERO_BUCKET, HALF_DOLLAR_BUCKET, PINNED_BUCKET];
const STEPS = 400;

function newFleet(): Fleet {
  const { runtime } = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
  const { machines: feed } = createInlineHost(runtime);
  return new Fleet({ feed, clock: runtime.clock, onNodeChange: () => {} });
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random.below(from.length)] as T;
}

function randomMachine(random: Random): Machine {
  const state = pick(random, STATES);
  const cluster = `c${random.below(3)}`;
  const interruptionBucket = pick(random, BUCKETS);
  return {
    ...machineOf(`m${random.below(30)}`, state, cluster),
    capacityType: pick(random, TYPES),
    assigned: isBound(state) ? { ...noAssignment, interruptionBucket } : noAssignment,
  };
}

function changeTo(machine: Machine, before: Machine | undefined, random: Random): IngestChange {
  if (before === undefined) return { kind: 'inserted', machine, skipped: [] };
  if (random.below(4) === 0) return { kind: 'removed', before };
  if (machine.state === before.state) return { kind: 'refreshed', machine };
  const kind = isLegalTransition(before.state, machine.state) ? 'moved' : 'replaced';
  return { kind, machine, before, skipped: [] };
}

/** An edge of our own actions from where the machine is, if there is one. */
function walk(fleet: Fleet, machine: Machine, random: Random): void {
  const slot = fleet.inventory.slotOf(machine.id);
  const edges = STATES.filter((to) => isLegalTransition(fleet.stateOf(slot), to));
  if (edges.length === 0) return;
  const to: StateCode = pick(random, edges);
  fleet.move(slot, to, {
    ...(gridOf(to).host === 'set' ? { host: { provider: 'alpha', ref: 'h' } } : {}),
    lastError: 'lost',
    ...(isBound(to) ? { cluster: 'c1' } : {}),
    ...(to === State.Configuring
      ? { assigned: { ...noAssignment, interruptionBucket: PINNED_BUCKET } }
      : {}),
  });
}

function write(fleet: Fleet, random: Random): void {
  const machine = randomMachine(random);
  const slot = fleet.inventory.slotOf(machine.id);
  const before = slot < 0 ? undefined : fleet.read(slot);
  const how = random.below(4);
  if (how === 0 && before !== undefined) return walk(fleet, machine, random);
  if (how === 1) return fleet.observe(machine);
  if (how === 2 && before !== undefined && random.below(3) === 0) return fleet.forget(machine.id);
  fleet.apply({ changes: [changeTo(machine, before, random)], rejected: [] });
}

function walked({ inventory }: Fleet): Map<string, number> {
  const counts = new Map<string, number>();
  for (let slot = 0; slot < inventory.slotCount; slot++) {
    if (inventory.ids[slot] === '') continue;
    const { state, capacityType, assigned } = inventory.read(slot);
    const cell = `${state} ${capacityType} ${assigned.interruptionBucket}`;
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  return counts;
}

function counted({ counts }: Fleet): Map<string, number> {
  const cells = new Map<string, number>();
  for (const state of STATES) {
    for (const type of TYPES) {
      for (const bucket of PENALTY_BUCKETS) {
        const count = counts.of(state, type, bucket);
        if (count !== 0) cells.set(`${state} ${type} ${bucket}`, count);
      }
    }
  }
  return cells;
}

function sorted(counts: Map<string, number>): [string, number][] {
  return [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

for (const seed of [1n, 2n, 3n]) {
  test(`counts equal a walk after any write (seed ${seed})`, () => {
    const random = createRandom(seed);
    const fleet = newFleet();
    let most = 0;
    for (let step = 0; step < STEPS; step++) {
      write(fleet, random);
      const truth = walked(fleet);
      assert.deepEqual(sorted(counted(fleet)), sorted(truth), `step ${step}`);
      most = Math.max(most, truth.size);
    }
    assert.ok(most > 10, `only ${most} combinations: the writes exercise too little`);
  });
}
