// Which machines have a teardown or wipe under way. One at a time: a teardown that outlives the
// cleanup of its slot would hit the host of the slot's next life.

export class CleaningSet {
  readonly #machineIds = new Set<string>();

  /** False when somebody else is at it. */
  enter(machineId: string): boolean {
    if (this.#machineIds.has(machineId)) return false;
    this.#machineIds.add(machineId);
    return true;
  }

  leave(machineId: string): void {
    this.#machineIds.delete(machineId);
  }
}
