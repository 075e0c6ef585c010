// Engine builds that are wrong on purpose, made around the real one.

import type { CycleOptions } from '../../cycle/engine.ts';
import type { Machine } from '../../model/machine.ts';
import { hashActions } from './hash-actions.ts';
import { createEngineLike, type EngineBuild, type EngineLike } from '../engine-like.ts';
import type { DecidedAction } from '../entry.ts';

/** Ties go to the highest id instead of the lowest: ids are mirrored on the way in and out. */
export const reversedTies: EngineBuild = (options) => {
  const inner = createEngineLike(options);
  const actions = (): DecidedAction[] =>
    inner.actions().map((action) => ({ ...action, machineId: unmirrored(action.machineId) }));
  const own: Partial<EngineLike> = {
    put: (machine: Machine, nowMs) => inner.put({ ...machine, id: mirrored(machine.id) }, nowMs),
    remove: (id) => inner.remove(mirrored(id)),
    move: (id, to, changes, nowMs) => inner.move(mirrored(id), to, changes, nowMs),
    withhold: (id, reason) => inner.withhold(mirrored(id), reason),
    setIdleSince: (id, sinceMs) => inner.setIdleSince(mirrored(id), sinceMs),
    pricePerHour: (id) => inner.pricePerHour(mirrored(id)),
    actions,
    actionHash: () => hashActions(actions()),
  };
  return overriding(inner, own);
};

/** Never gives an idle machine back. */
export const neverReleases: EngineBuild = (options) => {
  const inner = createEngineLike(options);
  const actions = (): DecidedAction[] => inner.actions().filter(({ kind }) => kind !== 5);
  return overriding(inner, { actions, actionHash: () => hashActions(actions()) });
};

/** Throws in its n-th cycle. */
export function throwsInCycle(cycle: number): EngineBuild {
  return (options) => {
    const inner = createEngineLike(options);
    let count = 0;
    return overriding(inner, {
      cycle: (cycleOptions) => {
        count += 1;
        if (count === cycle) throw new Error('a bug in cycle');
        inner.cycle(cycleOptions);
      },
    });
  };
}

/** Right, and tells with which options each cycle runs. */
export function watching(watch: (options: CycleOptions) => void): EngineBuild {
  return (options) => {
    const inner = createEngineLike(options);
    return overriding(inner, {
      cycle: (cycleOptions) => {
        watch(cycleOptions);
        inner.cycle(cycleOptions);
      },
    });
  };
}

/** Refuses every machine of this name. */
export function refuses(id: string): EngineBuild {
  return (options) => {
    const inner = createEngineLike(options);
    return overriding(inner, {
      put: (machine, nowMs) => machine.id !== id && inner.put(machine, nowMs),
    });
  };
}

function overriding(inner: EngineLike, own: Partial<EngineLike>): EngineLike {
  return {
    put: (machine, nowMs) => inner.put(machine, nowMs),
    remove: (id) => inner.remove(id),
    move: (id, to, changes, nowMs) => inner.move(id, to, changes, nowMs),
    withhold: (id, reason) => inner.withhold(id, reason),
    setIdleSince: (id, sinceMs) => inner.setIdleSince(id, sinceMs),
    applyRollup: (cluster, needs) => inner.applyRollup(cluster, needs),
    markReported: (cluster) => inner.markReported(cluster),
    setHeldOff: (heldOff) => inner.setHeldOff(heldOff),
    setBrakes: (brakes) => inner.setBrakes(brakes),
    setReleasePolicy: (policy) => inner.setReleasePolicy(policy),
    loadDemand: (cluster, needs) => inner.loadDemand(cluster, needs),
    restoreMemory: (memory) => inner.restoreMemory(memory),
    machineCount: () => inner.machineCount(),
    rowCount: () => inner.rowCount(),
    cycle: (options) => inner.cycle(options),
    actions: () => inner.actions(),
    actionHash: () => inner.actionHash(),
    pricePerHour: (id) => inner.pricePerHour(id),
    shortfalls: () => inner.shortfalls(),
    ...own,
  };
}

/** Every unit mirrored, and an end above all of them: what was a prefix comes last. */
function mirrored(id: string): string {
  return `${mirror(id)}\uffff`;
}

function unmirrored(id: string): string {
  return mirror(id.slice(0, -1));
}

function mirror(text: string): string {
  let mirrorText = '';
  for (let at = 0; at < text.length; at++) {
    mirrorText += String.fromCharCode(0x7f - text.charCodeAt(at));
  }
  return mirrorText;
}
