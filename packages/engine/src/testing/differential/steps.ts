// Drives one engine through a list of states by the changes between them, as a shard would, and
// holds each cycle against a full pass and the oracle. For scenarios that random changes reach
// too rarely.

import assert from 'node:assert/strict';
import type { Engine } from '../../cycle/engine.ts';
import { engineCycle, loadEngine, readCycle } from '../../cycle/plain.ts';
import type { CycleInput, CycleOutput } from '../../model/cycle.ts';
import type { Machine } from '../../model/machine.ts';
import { State } from '../../model/state.ts';
import { oracleCycle } from '../../oracle/cycle.ts';

/** Looks at the engine after a cycle; `input` is what the cycle was about. */
export type Look = (engine: Engine, input: CycleInput) => void;

/**
 * The outputs of the cycles; the memory of one is what the next starts from. Needs must not
 * change their arrival and clusters must stay reported: an engine remembers both.
 */
export function follow(states: readonly CycleInput[], look?: Look): CycleOutput[] {
  const [first] = states;
  assert.ok(first !== undefined);
  const engine = loadEngine(first, { fullPassDirtyShare: Number.POSITIVE_INFINITY });
  const outputs: CycleOutput[] = [];
  let before = first;
  for (const state of states) {
    apply(engine, before, state);
    const input = { ...state, memory: outputs.at(-1)?.memory ?? first.memory };
    outputs.push(cycle(engine, input, `step ${outputs.length}`));
    look?.(engine, input);
    before = state;
  }
  return outputs;
}

function cycle(engine: Engine, input: CycleInput, where: string): CycleOutput {
  engine.cycle({ nowMs: input.nowMs, quotaRemaining: input.quotaRemaining });
  const output = readCycle(engine);
  assert.deepEqual(output, oracleCycle(input), `the oracle, ${where}`);
  assert.deepEqual(output, engineCycle(input), `a full pass, ${where}`);
  return output;
}

/** Machines first removed, then written: a class number may be used again at once. */
function apply(engine: Engine, before: CycleInput, after: CycleInput): void {
  const next = new Map(after.machines.map((machine) => [machine.id, machine]));
  for (const { id, provider } of before.machines) {
    // A provider never takes over another one's machine.
    if (next.get(id)?.provider !== provider) engine.inventory.remove(id);
  }
  const known = new Set(before.machines);
  for (const machine of after.machines) if (!known.has(machine)) put(engine, machine, after);
  for (const cluster of new Set([...before.needs, ...after.needs].map((need) => need.cluster))) {
    const old = before.needs.filter((need) => need.cluster === cluster);
    const rows = after.needs.filter((need) => need.cluster === cluster);
    if (old.length === rows.length && rows.every((need) => old.includes(need))) continue;
    assert.ok(engine.applyRollup(cluster, rows).ok);
  }
  engine.setHeldOff(after.heldOff);
  engine.setBrakes(after.brakes);
  engine.releasePolicy = after.releasePolicy;
}

function put({ inventory }: Engine, machine: Machine, { nowMs, idleSinceMs }: CycleInput): void {
  const slot = inventory.put(machine, nowMs);
  assert.ok(slot.ok);
  if (machine.state !== State.Idle) return;
  inventory.setIdleSince(slot.value, idleSinceMs.get(machine.id) ?? nowMs);
}
