// An inventory whose every write is metered: the machines of one side, and of the recording itself.

import type { Machine, Withheld } from '../model/machine.ts';
import type { StateCode } from '../model/state.ts';
import type { Inventory, MoveChanges } from '../store/inventory.ts';
import { Meter, type Span } from './meter.ts';

export class MeteredFleet {
  readonly inventory: Inventory;
  readonly meter: Meter;

  constructor(inventory: Inventory, span: Span) {
    this.inventory = inventory;
    this.meter = new Meter(inventory, span);
  }

  find(id: string): Machine | undefined {
    const slot = this.inventory.slotOf(id);
    return slot < 0 ? undefined : this.inventory.read(slot);
  }

  stateOf(id: string): StateCode | undefined {
    const slot = this.inventory.slotOf(id);
    return slot < 0 ? undefined : (this.inventory.columns.state[slot] as StateCode);
  }

  /** False, and nothing changed, when the record breaks a rule of the inventory. */
  put(machine: Machine, atMs: number): boolean {
    const known = this.inventory.slotOf(machine.id);
    if (known >= 0) this.meter.count(known, -1);
    const put = this.inventory.put(machine, atMs);
    if (put.ok) this.meter.count(put.value, 1);
    else if (known >= 0) this.meter.count(known, 1);
    return put.ok;
  }

  /** Throws where no action walks the edge, as the inventory does. */
  move(slot: number, to: StateCode, changes: MoveChanges, atMs: number): void {
    this.meter.count(slot, -1);
    try {
      this.inventory.move(slot, to, changes, atMs);
    } finally {
      this.meter.count(slot, 1);
    }
  }

  remove(id: string): boolean {
    const slot = this.inventory.slotOf(id);
    if (slot < 0) return false;
    this.meter.count(slot, -1);
    return this.inventory.remove(id);
  }

  withhold(id: string, reason: Withheld | undefined): boolean {
    const slot = this.inventory.slotOf(id);
    if (slot >= 0) this.inventory.withhold(slot, reason);
    return slot >= 0;
  }

  /** A copy: machines may leave while it is gone through. */
  ids(): string[] {
    return this.inventory.ids.filter((id) => id !== '');
  }
}
