// Proves that an incremental cycle equals a full pass over the same state, and the oracle, after
// any sequence of changes to machines, demand and memory.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, type Random } from '@bigfleet/base';
import type { Engine } from '../../cycle/engine.ts';
import { engineCycle, loadEngine, readCycle } from '../../cycle/plain.ts';
import type { CycleInput } from '../../model/cycle.ts';
import type { Machine } from '../../model/machine.ts';
import type { Need } from '../../model/need.ts';
import { State } from '../../model/state.ts';
import { oracleCycle } from '../../oracle/cycle.ts';
import { randomBrakes, randomFleet } from '../generate.ts';

const RUNS = Number(process.env['BIGFLEET_RUNS'] ?? 400);
const STEPS = 12;
const FIRST = Number(process.env['BIGFLEET_SEED'] ?? 1);

test(`incremental equals full and the oracle over ${RUNS} runs of ${STEPS} cycles`, () => {
  for (let seed = FIRST; seed < FIRST + RUNS; seed++) runOne(seed);
});

function runOne(seed: number): void {
  const random = createRandom(`incremental-${seed}`);
  let input = randomFleet(random.stream('fleet'));
  const engine = loadEngine(input, { fullPassDirtyShare: 1 });
  for (let step = 0; step < STEPS; step++) {
    const where = `seed ${seed}, step ${step}`;
    const expected = oracleCycle(input);
    assert.deepEqual(engineCycle(input), expected, `full, ${where}`);
    engine.cycle({ nowMs: input.nowMs, quotaRemaining: input.quotaRemaining });
    const output = readCycle(engine);
    assert.deepEqual(output, expected, `incremental, ${where}`);
    // The other fleet of the pair supplies records and needs that could have existed.
    const other = randomFleet(random.stream(`other-${step}`));
    change(engine, random, other);
    input = snapshot(engine, {
      ...input,
      nowMs: input.nowMs + random.below(90_000),
      heldOff: other.heldOff,
    });
    engine.setHeldOff(other.heldOff);
    const brakes = randomBrakes(random.stream(`brakes-${step}`), input.needs, input.machines);
    engine.setBrakes(brakes);
    input = { ...input, brakes };
  }
}

/** A few random changes: most clusters and machines stay as they are. */
function change(engine: Engine, random: Random, other: CycleInput): void {
  const nowMs = other.nowMs;
  for (let count = random.below(4); count > 0; count--) {
    const machine = pick(random, other.machines);
    if (machine !== undefined) engine.inventory.put(machine, nowMs);
  }
  if (random.below(4) === 0) {
    const machine = pick(random, other.machines);
    if (machine !== undefined) engine.inventory.remove(machine.id);
  }
  if (random.below(3) === 0) {
    const cluster = pick(random, other.needs)?.cluster;
    if (cluster !== undefined)
      engine.applyRollup(
        cluster,
        other.needs.filter((need) => need.cluster === cluster),
      );
  }
  if (random.below(8) === 0) {
    const cluster = pick(random, other.needs)?.cluster;
    if (cluster !== undefined) engine.applyRollup(cluster, []);
  }
}

function pick<T>(random: Random, list: readonly T[]): T | undefined {
  return list.length === 0 ? undefined : list[random.below(list.length)];
}

/** The engine's state as plain values. */
function snapshot(engine: Engine, base: CycleInput): CycleInput {
  const { inventory, needs } = engine;
  const machines: Machine[] = [];
  const idleSinceMs = new Map<string, number>();
  for (let slot = 0; slot < inventory.slotCount; slot++) {
    if (inventory.columns.state[slot] === State.Unspecified) continue;
    const machine = inventory.read(slot);
    machines.push(machine);
    if (machine.state === State.Idle) {
      idleSinceMs.set(machine.id, inventory.columns.idleSinceMs[slot]!);
    }
  }
  const rows: Need[] = [...needs.clusters()].flatMap((cluster) =>
    needs.rowsOf(cluster).map((row) => row.need),
  );
  return {
    ...base,
    machines,
    idleSinceMs,
    needs: rows,
    reportedClusters: engine.reportedClusters(),
    memory: { parkingAges: engine.parking.ages, shortfalls: engine.shortfalls.entries },
  };
}
