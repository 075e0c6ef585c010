// Small worlds with a recorder: a shard's loop over the production engine, whose operations take a fixed
// time, written to a trace as a shard writes it. What a model makes of the trace can be held against it.

import { assert } from '@bigfleet/base';
import { applyRails, deployedRails } from '../../actions/rails.ts';
import { ActionKind } from '../../model/action.ts';
import { type CycleMemory, emptyMemory } from '../../model/cycle.ts';
import { type Machine, noAssignment } from '../../model/machine.ts';
import type { Need } from '../../model/need.ts';
import { parseFingerprint } from '../../model/profile.ts';
import { State } from '../../model/state.ts';
import type { MoveChanges } from '../../store/inventory.ts';
import { emptyState, RecordedEngine } from '../../trace/recorded-engine.ts';
import { Chunks } from '../../trace/testing/random-run.ts';
import type { RecordedTrace } from '../recording.ts';

const START_MS = 1_000_000;
export const CYCLE_MS = 10_000;

export interface RecordedDwell {
  readonly createMs: number;
  readonly configureMs: number;
  readonly drainMs: number;
  readonly deleteMs: number;
}

/** Drains are over before the shortest grace: their median is then the time of each of them. */
const DWELL: RecordedDwell = {
  createMs: 35_000,
  configureMs: 15_000,
  drainMs: 9_000,
  deleteMs: 5_000,
};

/** What happens in front of a cycle, by its number from 0. */
export type Script = (world: RecordedWorld, cycle: number) => void;

export interface RecordedWorldOptions {
  readonly machines?: readonly Machine[];
  readonly dwell?: RecordedDwell;
  readonly quota?: ReadonlyMap<string, number>;
  readonly startMs?: number;
  readonly memory?: CycleMemory;
}

interface Due {
  readonly id: string;
  readonly dueMs: number;
  readonly done: () => void;
}

export class RecordedWorld {
  readonly engine: RecordedEngine;
  readonly #chunks = new Chunks();
  readonly #dwell: RecordedDwell;
  readonly #quota: ReadonlyMap<string, number> | undefined;
  #due: Due[] = [];
  nowMs: number;

  constructor(options: RecordedWorldOptions) {
    const { machines = [], dwell = DWELL, quota, startMs = START_MS } = options;
    this.#dwell = dwell;
    this.#quota = quota;
    this.nowMs = startMs;
    this.engine = new RecordedEngine(
      { ...emptyState, nowMs: startMs, machines, memory: options.memory ?? emptyMemory },
      this.#chunks.sink,
    );
  }

  run(cycleCount: number, script: Script = () => {}): this {
    for (let cycle = 0; cycle < cycleCount; cycle++) {
      this.#complete();
      script(this, cycle);
      const quota =
        this.#quota === undefined ? {} : { quotaRemaining: this.#quotaLeft(this.#quota) };
      this.engine.cycle({ nowMs: this.nowMs, ...quota });
      this.#execute();
      this.nowMs += CYCLE_MS;
    }
    return this;
  }

  rollup(cluster: string, needs: readonly Need[]): void {
    assert(this.engine.applyRollup(cluster, needs).ok, 'a roll-up of a test is refused');
  }

  put(machine: Machine): void {
    assert(this.engine.inventory.put(machine, this.nowMs).ok, 'a machine of a test is refused');
    this.#due = this.#due.filter(({ id }) => id !== machine.id);
  }

  /** The operator had no blob: the Configure goes back. */
  rollBack(id: string): void {
    this.#due = this.#due.filter((due) => due.id !== id);
    this.#move(id, State.Idle, {});
  }

  read(id: string): Machine {
    const { inventory } = this.engine.view;
    return inventory.read(inventory.slotOf(id));
  }

  /** The bytes so far, closed. */
  close(): Uint8Array {
    this.engine.close();
    return this.#chunks.join();
  }

  /** As a shard that was killed leaves it. */
  flush(): Uint8Array {
    this.engine.flush();
    return this.#chunks.join();
  }

  #quotaLeft(slices: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
    const { inventory } = this.engine.view;
    const left = new Map(slices);
    for (const id of inventory.ids) {
      const { provider, state } = this.read(id);
      const held = left.get(provider);
      if (held !== undefined && state !== State.Speculative)
        left.set(provider, Math.max(0, held - 1));
    }
    return left;
  }

  #complete(): void {
    const due = this.#due.filter(({ dueMs }) => dueMs <= this.nowMs);
    this.#due = this.#due.filter(({ dueMs }) => dueMs > this.nowMs);
    due.sort((a, b) => a.dueMs - b.dueMs || (a.id < b.id ? -1 : 1));
    for (const { done } of due) done();
  }

  #execute(): void {
    const { actions } = this.engine.readCycle();
    const { inventory } = this.engine.view;
    const configured = (cluster: string): number =>
      inventory.ids.filter((id) => {
        const machine = this.read(id);
        return machine.state === State.Configured && machine.cluster === cluster;
      }).length;
    for (const action of applyRails(actions, configured, deployedRails).kept) {
      const { machineId: id, cluster, fingerprint, group, graceSeconds } = action;
      const stamp = { ...noAssignment, needFingerprint: fingerprint, group };
      switch (action.kind) {
        case ActionKind.Provision:
          this.#move(id, State.Creating, { intendedCluster: cluster, assigned: stamp });
          this.#later(id, this.#dwell.createMs, State.Idle, {
            host: { provider: 'provider', ref: id },
          });
          break;
        case ActionKind.Bootstrap: {
          const profile = parseFingerprint(fingerprint);
          assert(profile !== undefined, 'an acquisition names its need');
          const { priority, interruptionBucket, reclamationBucket } = profile;
          const assigned = { ...stamp, priority, interruptionBucket, reclamationBucket };
          this.#move(id, State.Configuring, { cluster, assigned: stamp });
          this.#later(id, this.#dwell.configureMs, State.Configured, { assigned });
          break;
        }
        case ActionKind.Reclaim:
        case ActionKind.Preempt:
          this.#move(id, State.Draining, {});
          this.#later(id, Math.min(this.#dwell.drainMs, graceSeconds * 1_000), State.Idle, {});
          break;
        case ActionKind.Delete:
          this.#move(id, State.Deleting, {});
          this.#later(id, this.#dwell.deleteMs, State.Speculative, {});
          break;
      }
    }
  }

  #move(id: string, to: Machine['state'], changes: MoveChanges, atMs: number = this.nowMs): void {
    this.engine.inventory.move(this.engine.view.inventory.slotOf(id), to, changes, atMs);
  }

  #later(id: string, ms: number, to: Machine['state'], changes: MoveChanges): void {
    const dueMs = this.nowMs + ms;
    this.#due.push({ id, dueMs, done: () => this.#move(id, to, changes, dueMs) });
  }
}

/** Traces as a directory would give them. */
export function tracesOf(
  ...sources: readonly (Uint8Array | readonly [string, Uint8Array])[]
): RecordedTrace[] {
  return sources.map((source, at) => {
    const [run, bytes] = source instanceof Uint8Array ? ['1', source] : source;
    return { name: `${at + 1}.trace`, run, open: async () => bytes };
  });
}
