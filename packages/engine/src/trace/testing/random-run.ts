// Recorded runs from a seed: a nasty random fleet, and between the cycles every kind of input
// that an engine takes, carried-out actions included.

import { createRandom, type Random } from '@bigfleet/base';
import type { CycleInput } from '../../model/cycle.ts';
import { ActionKind, type ActionKindCode } from '../../model/action.ts';
import { State } from '../../model/state.ts';
import { assignmentFor } from '../../testing/build.ts';
import { randomFleet } from '../../testing/generate.ts';
import type { ActionHash } from '../action-hash.ts';
import { RecordedEngine, type RecordedEngineOptions } from '../recorded-engine.ts';

export interface RandomRunOptions extends RecordedEngineOptions {
  readonly cycleCount?: number;
  readonly maxMachines?: number;
  readonly maxNeeds?: number;
  /** The cycle (from 1) behind which a second trace begins. */
  readonly rotateAfter?: number;
  /** Leave the trace open. */
  readonly unclosed?: boolean;
}

export interface RandomRun {
  readonly trace: Uint8Array;
  readonly hashes: readonly ActionHash[];
  /** From the rotation on. */
  readonly secondTrace: Uint8Array;
  readonly actionCount: number;
}

export function randomRun(seed: string, options: RandomRunOptions = {}): RandomRun {
  const random = createRandom(seed);
  const first = new Chunks();
  const second = new Chunks();
  const input = randomFleet(random.stream('fleet'), options);
  const engine = new RecordedEngine(input, first.sink, options);
  const hashes: ActionHash[] = [];
  let nowMs = input.nowMs;
  let actionCount = 0;
  const cycleCount = options.cycleCount ?? 12;
  for (let cycle = 1; cycle <= cycleCount; cycle++) {
    const other = randomFleet(random.stream(`other-${cycle}`), options);
    engine.cycle({
      nowMs,
      quotaRemaining: random.below(3) === 0 ? other.quotaRemaining : input.quotaRemaining,
      ...(random.below(5) === 0 ? { isFullPass: true } : {}),
    });
    hashes.push(engine.lastHash as ActionHash);
    actionCount += engine.view.actions.length;
    if (cycle === options.rotateAfter) engine.rotate(second.sink);
    if (cycle === cycleCount) break;
    nowMs += random.below(90_000);
    carryOut(engine, random, nowMs);
    change(engine, random, other, nowMs);
  }
  if (options.unclosed === true) engine.flush();
  else engine.close();
  return { trace: first.join(), secondTrace: second.join(), hashes, actionCount };
}

/** Some of what the cycle decided, at least its first step. */
function carryOut(engine: RecordedEngine, random: Random, nowMs: number): void {
  const { actions } = engine.view;
  for (let at = 0; at < actions.length; at++) {
    if (random.below(3) !== 0) continue;
    const slot = actions.slot[at]!;
    const isDone = random.below(2) === 0;
    const { inventory } = engine;
    const need = actions.row[at]?.need;
    switch (actions.kind[at] as ActionKindCode) {
      case ActionKind.Bootstrap:
        if (need === undefined) continue;
        inventory.move(
          slot,
          State.Configuring,
          { cluster: need.cluster, assigned: assignmentFor(need) },
          nowMs,
        );
        if (isDone) inventory.move(slot, State.Configured, {}, nowMs);
        break;
      case ActionKind.Provision:
        if (need === undefined) continue;
        inventory.move(
          slot,
          State.Creating,
          { intendedCluster: need.cluster, assigned: assignmentFor(need) },
          nowMs,
        );
        if (isDone) {
          inventory.move(slot, State.Idle, { host: { provider: 'p1', ref: `h${slot}` } }, nowMs);
        } else if (random.below(4) === 0) {
          inventory.move(slot, State.Failed, { lastError: 'create: no capacity' }, nowMs);
        }
        break;
      case ActionKind.Reclaim:
      case ActionKind.Preempt:
        inventory.move(slot, State.Draining, {}, nowMs);
        if (isDone) inventory.move(slot, State.Idle, {}, nowMs);
        break;
      case ActionKind.Delete:
        inventory.move(slot, State.Deleting, {}, nowMs);
        if (isDone) inventory.move(slot, State.Speculative, {}, nowMs);
        break;
    }
  }
}

/** A few changes from outside; `other` supplies records and needs that could have existed. */
function change(engine: RecordedEngine, random: Random, other: CycleInput, nowMs: number): void {
  for (let count = random.below(4); count > 0; count--) {
    const machine = pick(random, other.machines);
    if (machine !== undefined) engine.inventory.put(machine, nowMs);
  }
  const id = pick(random, other.machines)?.id ?? '';
  const slot = engine.view.inventory.slotOf(id);
  if (slot >= 0 && random.below(5) === 0) {
    engine.inventory.withhold(slot, pick(random, [undefined, 'transfer_frozen', 'not_owned']));
  }
  const isIdle = slot >= 0 && engine.view.inventory.columns.state[slot] === State.Idle;
  if (isIdle && random.below(3) === 0) {
    engine.inventory.setIdleSince(slot, nowMs - random.below(1_000_000));
  }
  if (random.below(4) === 0) engine.inventory.remove(id);
  const cluster = pick(random, other.needs)?.cluster;
  if (cluster !== undefined && random.below(2) === 0) {
    const needs = other.needs.filter((need) => need.cluster === cluster);
    engine.applyRollup(cluster, random.below(4) === 0 ? [] : needs);
  }
  if (random.below(4) === 0) engine.markReported(pick(random, ['a', 'b', 'c', 'd']) ?? 'a');
  if (random.below(2) === 0) engine.setHeldOff(other.heldOff);
  if (random.below(2) === 0) engine.setBrakes(other.brakes);
  if (random.below(6) === 0) engine.releasePolicy = other.releasePolicy;
}

function pick<T>(random: Random, list: readonly T[]): T | undefined {
  return list.length === 0 ? undefined : list[random.below(list.length)];
}

/** Collects what a writer hands over. */
export class Chunks {
  readonly list: Uint8Array[] = [];
  readonly sink = (bytes: Uint8Array): void => {
    this.list.push(bytes);
  };

  join(): Uint8Array {
    const whole = new Uint8Array(this.list.reduce((sum, chunk) => sum + chunk.length, 0));
    let at = 0;
    for (const chunk of this.list) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    return whole;
  }
}
