// The engine in a worker thread: a decision of seconds must not stop the thread that owns the
// sockets, or thousands of operators see a dead peer and reconnect at once.

import { packRollups, RollupTransfer } from '../rollup/transfer.ts';
import type { DeciderOptions } from './decider.ts';
import { type EngineHost, engineInputs } from './engine-host.ts';
import { EngineThread } from './engine-thread.ts';

/** The thread's own measurements: it has no registry (`threadDeltas` is their layout). */
type ThreadDeltasListener = (deltas: Float64Array) => void;

export function createWorkerHost(
  engine: DeciderOptions = {},
  onThreadDeltas?: ThreadDeltasListener,
): EngineHost {
  const thread = new EngineThread(engine);
  const rollups = new RollupTransfer((orders) => {
    const packed = packRollups(orders);
    return thread.ask('rollups', packed, [packed.bytes.buffer]);
  });
  return {
    ...engineInputs((entry) => thread.input(entry)),
    // Any question does: the thread answers its first one when its modules are loaded.
    ready: async () => {
      await thread.ask('priorities', []);
    },
    applyRollup: (order) => rollups.add(order),
    shipInputs: () => thread.flush(),
    cycle: async (options) => {
      const { answer, threadDeltas } = await thread.ask('cycle', options);
      onThreadDeltas?.(threadDeltas);
      return answer;
    },
    verdicts: (query) => thread.ask('verdicts', query),
    needChanges: (isFresh) => thread.ask('need_changes', isFresh),
    priorities: (machineIds) => thread.ask('priorities', machineIds),
    rotateTrace: () => thread.rotateTrace(),
    close: () => thread.close(),
  };
}
