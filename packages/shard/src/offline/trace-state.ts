// The state of a recorded engine at any place of its trace: entries are applied to an engine of
// this build, and what it holds can be read as the input of its next cycle. For questions of the
// kind "what would have helped"; whether this build decides the same is replay's question.

import { assert } from '@bigfleet/base';
import {
  type CycleInput,
  type CycleOptions,
  Engine,
  type Machine,
  type Need,
  type Shortfall,
  State,
  type TraceEntry,
  type Brakes,
  noBrakes,
} from '@bigfleet/engine';

export class TraceState {
  readonly #engine: Engine = new Engine({ hasRecords: false });
  readonly #parkingAges = new Map<string, number>();
  readonly #shortfalls = new Map<string, Shortfall>();
  #heldOff: ReadonlySet<string> = new Set();
  #brakes: Brakes = noBrakes;

  apply(entry: TraceEntry): void {
    const engine = this.#engine;
    const { inventory } = engine;
    switch (entry.kind) {
      case 'put': {
        const put = inventory.put(entry.machine, entry.nowMs);
        return assert(put.ok, 'a recorded machine is refused', { id: entry.machine.id });
      }
      case 'remove':
        return assert(inventory.remove(entry.id), 'a recorded machine is gone', { id: entry.id });
      case 'move':
        return inventory.move(this.#slotOf(entry.id), entry.to, entry.changes, entry.nowMs);
      case 'withhold':
        return inventory.withhold(this.#slotOf(entry.id), entry.reason);
      case 'idle_since':
        return inventory.setIdleSince(this.#slotOf(entry.id), entry.sinceMs);
      case 'rollup':
        return assert(engine.applyRollup(entry.cluster, entry.needs).ok, 'a roll-up is refused');
      case 'reported':
        return engine.markReported(entry.cluster);
      case 'held_off':
        this.#heldOff = entry.heldOff;
        return engine.setHeldOff(entry.heldOff);
      case 'brakes':
        this.#brakes = entry.brakes;
        return engine.setBrakes(entry.brakes);
      case 'release_policy':
        engine.releasePolicy = entry.policy;
        return;
      case 'cycle':
        return engine.cycle(entry.options);
      case 'decided':
        return;
      case 'demand':
        return engine.needs.replace(inventory.clusterIndex(entry.cluster), entry.needs);
      case 'parking':
        this.#parkingAges.set(entry.needKey, entry.ageCycles);
        return;
      case 'shortfall':
        this.#shortfalls.set(entry.fingerprint, entry.shortfall);
        return;
      case 'snapshot_end':
        return this.#restoreMemory();
    }
  }

  /** What a cycle with these options would be decided from. */
  inputOf({ nowMs, quotaRemaining }: CycleOptions): CycleInput {
    const { inventory, needs, parking, shortfalls, releasePolicy } = this.#engine;
    const machines: Machine[] = [];
    const idleSinceMs = new Map<string, number>();
    for (let slot = 0; slot < inventory.slotCount; slot++) {
      if (inventory.ids[slot] === '') continue;
      const machine = inventory.read(slot);
      machines.push(machine);
      if (machine.state === State.Idle) {
        idleSinceMs.set(machine.id, inventory.columns.idleSinceMs[slot] ?? nowMs);
      }
    }
    const rows: Need[] = [...needs.clusters()].flatMap((cluster) =>
      needs.rowsOf(cluster).map(({ need }) => need),
    );
    return {
      nowMs,
      machines,
      idleSinceMs,
      needs: rows,
      reportedClusters: this.#engine.reportedClusters(),
      quotaRemaining: quotaRemaining ?? new Map(),
      heldOff: this.#heldOff,
      brakes: this.#brakes,
      memory: { parkingAges: parking.ages, shortfalls: shortfalls.entries },
      releasePolicy,
    };
  }

  #restoreMemory(): void {
    const { inventory, parking, shortfalls } = this.#engine;
    parking.restore(this.#parkingAges, (key) =>
      inventory.clusterIndex(key.slice(0, Math.max(0, key.indexOf('\u0000')))),
    );
    shortfalls.restore(this.#shortfalls);
  }

  #slotOf(id: string): number {
    const slot = this.#engine.inventory.slotOf(id);
    assert(slot >= 0, 'a trace names an unknown machine', { id });
    return slot;
  }
}
