// How many machines are in each cell of state × capacity type, kept as records change, so that a
// scrape of half a million machines costs nothing.

import type { CapacityTypeName, MachineRecord, MachineStateName } from '../model/machine.ts';
import type { KitObserver } from '../observer.ts';

interface Cell {
  readonly state: MachineStateName;
  readonly capacityType: CapacityTypeName;
  count: number;
}

export class MachineCounts {
  readonly #cells = new Map<string, Cell>();
  readonly #observer: KitObserver;

  constructor(observer: KitObserver) {
    this.#observer = observer;
  }

  moved(from: MachineRecord | undefined, to: MachineRecord | undefined): void {
    if (from?.state === to?.state && from?.capacityType === to?.capacityType) return;
    if (from !== undefined) this.#add(from, -1);
    if (to !== undefined) this.#add(to, 1);
  }

  #add(record: MachineRecord, difference: number): void {
    const { state, capacityType } = record;
    const key = `${state}/${capacityType}`;
    const cell = this.#cells.get(key) ?? { state, capacityType, count: 0 };
    this.#cells.set(key, cell);
    cell.count += difference;
    this.#observer.machineCount?.(state, capacityType, cell.count);
  }
}
