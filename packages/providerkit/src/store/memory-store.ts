// A store without durability, for tests and ephemeral providers. It keeps its image after close,
// so a new kit over the same instance goes through the restart path. Records are immutable, so
// holding them is no aliasing.

import type { MachineRecord } from '../model/machine.ts';
import type { FenceMark, Store, StoreChange, StoredOperation, StoreImage } from './store.ts';

export class MemoryStore implements Store {
  #incarnation: string | undefined;
  #revision = 0;
  readonly #machines = new Map<string, MachineRecord>();
  /** Keyed by both parts with their lengths, so that no id can imitate another pair. */
  readonly #fences = new Map<string, FenceMark>();
  readonly #operations = new Map<string, StoredOperation>();

  async load(): Promise<StoreImage | undefined> {
    if (this.#incarnation === undefined) return undefined;
    return {
      incarnation: this.#incarnation,
      revision: this.#revision,
      machines: [...this.#machines.values()],
      fences: [...this.#fences.values()],
      operations: [...this.#operations.values()],
    };
  }

  async initialise(incarnation: string): Promise<void> {
    this.#incarnation = incarnation;
  }

  async commit(changes: readonly StoreChange[]): Promise<void> {
    for (const change of changes) this.#apply(change);
  }

  async close(): Promise<void> {}

  #apply(change: StoreChange): void {
    switch (change.kind) {
      case 'machine':
        this.#machines.set(change.record.id, change.record);
        break;
      case 'machine-removed':
        this.#machines.delete(change.machineId);
        break;
      case 'fence':
        this.#fences.set(pair(change.mark.shardId, change.mark.machineId), change.mark);
        break;
      case 'operation':
        this.#operations.set(
          pair(change.operation.kind, change.operation.machineId),
          change.operation,
        );
        break;
      case 'revision':
        this.#revision = change.revision;
        break;
    }
  }
}

function pair(first: string, second: string): string {
  return `${first.length}:${first}${second}`;
}
