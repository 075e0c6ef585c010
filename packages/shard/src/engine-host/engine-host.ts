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

export interface EngineHost extends RollupEngine {
  readonly machines: MachineFeed;
  /** Who hears, after the fleet wrote it, which machine was written. */
  onMachineWrite(listener: (machineId: string) => void): void;
  /** An administrator's confirmed empty roll-up. */
  forgetCluster(cluster: string): Promise<void>;
  /** Pairs of cluster and fingerprint whose operator refused a bootstrap. */
  setHeldOff(heldOff: ReadonlySet<string>): void;
  setBrakes(brakes: Brakes): void;
  setReleasePolicy(policy: ReleasePolicy): void;
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

export type WriteListener = (machineId: string) => void;

/**
 * Tells its listener which machines were written: every write of the fleet passes through the host's
 * feed, also those that change no state. Nothing is kept here; a listener must be cheap.
 */
export class MachineWrites {
  #listener: WriteListener | undefined;

  /** One listener; the last one that asked. */
  listen(listener: WriteListener): void {
    this.#listener = listener;
  }

  /** The same feed, told about. */
  through(feed: MachineFeed): MachineFeed {
    const told = (id: string): void => this.#listener?.(id);
    return {
      put: (machine, nowMs) => {
        feed.put(machine, nowMs);
        told(machine.id);
      },
      remove: (id) => {
        feed.remove(id);
        told(id);
      },
      move: (id, to, changes, nowMs) => {
        feed.move(id, to, changes, nowMs);
        told(id);
      },
      withhold: (id, reason) => {
        feed.withhold(id, reason);
        told(id);
      },
    };
  }
}
