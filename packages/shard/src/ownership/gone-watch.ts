// Notices that an adopted machine is no more (coordinator §9.6): back to a quota slot, or absent from
// two full Lists in a row. It is then reported as gone, and the ledger gives its id back to domains
// and homes. One absence is not enough: a List may race the provider's own store.

import type { Fleet } from '../fleet/fleet.ts';
import { State } from '@bigfleet/engine';
import type { MachineOverride } from './assignment.ts';

const ABSENCES = 2;

export class GoneWatch {
  /** Consecutive absences by machine id. Bound: one entry per adopted machine. */
  readonly #absences = new Map<string, number>();

  /** Those that are gone now. `hasListedAll`: every shared provider was listed in full. */
  look(
    adopted: Iterable<MachineOverride>,
    fleet: Fleet,
    hasListedAll: boolean,
  ): readonly MachineOverride[] {
    const gone: MachineOverride[] = [];
    const seen = new Set<string>();
    for (const override of adopted) {
      const { machineId } = override;
      seen.add(machineId);
      const slot = fleet.inventory.slotOf(machineId);
      if (slot >= 0) {
        this.#absences.delete(machineId);
        const isFree = fleet.pendingOf(slot) === 'none';
        if (isFree && fleet.stateOf(slot) === State.Speculative) gone.push(override);
      } else if (hasListedAll && this.#absent(machineId) >= ABSENCES) {
        gone.push(override);
      }
    }
    for (const id of this.#absences.keys()) if (!seen.has(id)) this.#absences.delete(id);
    return gone;
  }

  #absent(machineId: string): number {
    const count = (this.#absences.get(machineId) ?? 0) + 1;
    this.#absences.set(machineId, count);
    return count;
  }
}
