// The engine in this thread: for simulation under virtual time and for tests. It answers in a
// later turn, as the worker does, so that nothing comes to rely on an answer that is immediate.

import type { Runtime } from '@bigfleet/base';
import { Decider, type DeciderOptions } from './decider.ts';
import { type EngineHost, engineInputs } from './engine-host.ts';

export function createInlineHost(runtime: Runtime, options: DeciderOptions = {}): EngineHost {
  const decider = new Decider(() => runtime.clock.monotonicMs(), options);
  const later = async <T>(answer: () => T): Promise<T> => {
    await runtime.timers.turn();
    return answer();
  };
  return {
    ...engineInputs((entry) => decider.apply(entry)),
    ready: () => Promise.resolve(),
    applyRollup: (order) => later(() => decider.rollups.admit(order)),
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
