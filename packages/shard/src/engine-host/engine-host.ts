// The engine as the shard's main thread sees it: inputs go in without waiting, a cycle is asked
// for and answered later. Inline (simulation, small tests) and in a worker thread (production) the
// same code decides, so that what is proven under virtual time is what runs.
//
// Every machine write must pass through here, in the order in which the fleet made it: the engine
// keeps its own inventory, and slots are equal on both sides only because the writes are.

import type {
  Brakes,
  CycleOptions,
  Machine,
  MoveChanges,
  ReleasePolicy,
  StateCode,
  TraceEntry,
  Withheld,
} from '@bigfleet/engine';
import type { CycleAnswer } from './answer.ts';
import type { RollupEngine } from '../rollup/admission.ts';
import type { NeedChanges } from './need-journal.ts';
import type { VerdictPage, VerdictQuery } from './need-verdicts.ts';

export interface MachineFeed {
  put(machine: Machine, nowMs: number): void;
  remove(id: string): void;
  move(id: string, to: StateCode, changes: MoveChanges, nowMs: number): void;
  withhold(id: string, reason: Withheld | undefined): void;
}

/** What goes in without an answer, in the order of the calls. */
export interface EngineInputs {
  readonly machines: MachineFeed;
  /** Who hears, after the fleet wrote it, which machine was written: one listener, and a cheap one. */
  onMachineWrite(listener: (machineId: string) => void): void;
  /** The cluster repeated its accepted roll-up. */
  markReported(cluster: string): void;
  /** Pairs of cluster and fingerprint whose operator refused a bootstrap. */
  setHeldOff(heldOff: ReadonlySet<string>): void;
  setBrakes(brakes: Brakes): void;
  setReleasePolicy(policy: ReleasePolicy): void;
}

export interface EngineHost extends RollupEngine, EngineInputs {
  /** Resolves when the engine answers questions. Rejects when it cannot start. */
  ready(): Promise<void>;
  /** A cycle is near: what was written so far may be taken in while main waits for Lists. */
  shipInputs(): void;
  /** One at a time. Rejects when the engine is lost: the process must end then. */
  cycle(options: CycleOptions): Promise<CycleAnswer>;
  /** Verdicts of the last cycle, for readers; waits for a cycle that runs. */
  verdicts(query: VerdictQuery): Promise<VerdictPage>;
  /** What changed of the verdicts since it was last asked, page by page; for one asker. */
  needChanges(isFresh: boolean): Promise<NeedChanges>;
  /**
   * What preemption compares, for each machine: the higher of its stamp and of the need that claims
   * it. A machine that the engine does not know is beyond every priority.
   */
  priorities(machineIds: readonly string[]): Promise<readonly number[]>;
  /** The trace in the next answers starts anew, with the state as it is now. */
  rotateTrace(): void;
  close(): Promise<void>;
}

/** Every input as the entry of a trace, as the engine takes it. */
export function engineInputs(take: (entry: TraceEntry) => void): EngineInputs {
  let onWrite: ((machineId: string) => void) | undefined;
  const write = (machineId: string, entry: TraceEntry): void => {
    take(entry);
    onWrite?.(machineId);
  };
  return {
    machines: {
      put: (machine, nowMs) => write(machine.id, { kind: 'put', machine, nowMs }),
      remove: (id) => write(id, { kind: 'remove', id }),
      move: (id, to, changes, nowMs) => write(id, { kind: 'move', id, to, changes, nowMs }),
      withhold: (id, reason) => write(id, { kind: 'withhold', id, reason }),
    },
    onMachineWrite: (listener) => {
      onWrite = listener;
    },
    markReported: (cluster) => take({ kind: 'reported', cluster }),
    setHeldOff: (heldOff) => take({ kind: 'held_off', heldOff }),
    setBrakes: (brakes) => take({ kind: 'brakes', brakes }),
    setReleasePolicy: (policy) => take({ kind: 'release_policy', policy }),
  };
}
