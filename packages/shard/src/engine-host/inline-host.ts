// The engine in this thread: for simulation under virtual time and for tests. It answers in a
// later turn, as the worker does, so that nothing comes to rely on an answer that is immediate.

import type { Runtime } from '@bigfleet/base';
import type { TraceEntry } from '@bigfleet/engine';
import { Decider, type DeciderOptions } from './decider.ts';
import { type EngineHost, MachineWrites } from './engine-host.ts';

export function createInlineHost(runtime: Runtime, options: DeciderOptions = {}): EngineHost {
  const decider = new Decider(() => runtime.clock.monotonicMs(), options);
  const apply = (entry: TraceEntry): void => decider.apply(entry);
  const writes = new MachineWrites();
  const later = async <T>(answer: () => T): Promise<T> => {
    await runtime.timers.turn();
    return answer();
  };
  return {
    machines: writes.through({
      put: (machine, nowMs) => apply({ kind: 'put', machine, nowMs }),
      remove: (id) => apply({ kind: 'remove', id }),
      move: (id, to, changes, nowMs) => apply({ kind: 'move', id, to, changes, nowMs }),
      withhold: (id, reason) => apply({ kind: 'withhold', id, reason }),
    }),
    onMachineWrite: (listener) => writes.listen(listener),
    applyRollup: (order) => later(() => decider.rollups.admit(order)),
    forgetCluster: (cluster) => later(() => decider.rollups.forget(cluster)),
    markReported: (cluster) => apply({ kind: 'reported', cluster }),
    setHeldOff: (heldOff) => apply({ kind: 'held_off', heldOff }),
    setBrakes: (brakes) => apply({ kind: 'brakes', brakes }),
    setReleasePolicy: (policy) => apply({ kind: 'release_policy', policy }),
    // Everything is taken in as it is written.
    shipInputs: () => {},
    // Taken at once, given later: the snapshot is the moment of the call.
    cycle: (options_) => {
      const answer = decider.cycle(options_);
      return later(() => answer);
    },
    verdicts: (query) => later(() => decider.verdicts(query)),
    needChanges: (isFresh) => later(() => decider.needChanges(isFresh)),
    priorities: (machineIds) => later(() => decider.priorities(machineIds)),
    rotateTrace: () => decider.rotateTrace(),
    close: () => Promise.resolve(),
  };
}
