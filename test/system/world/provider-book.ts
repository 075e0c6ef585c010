// What one provider has durably promised, as its store saw it, and the law of its operations: every
// transition is entered from its one start state, with exactly one accepted operation, whose id was
// never used before; no machine is ever lost or invented. The book is the disk: it outlives every
// process of the provider.

import {
  type MachineRecord,
  MemoryStore,
  type OperationKind,
  type StoreChange,
  type StoredOperation,
} from '@bigfleet/providerkit';
import type { Witness } from './witness.ts';

export interface BookedMachine {
  readonly record: MachineRecord;
  /** Virtual time of the last change. */
  readonly changedMs: number;
}

const edges: Readonly<Record<OperationKind, readonly [start: string, transit: string]>> = {
  create: ['Speculative', 'Creating'],
  configure: ['Idle', 'Configuring'],
  drain: ['Configured', 'Draining'],
  delete: ['Idle', 'Deleting'],
};
const TRANSITS: ReadonlySet<string> = new Set(Object.values(edges).map(([, transit]) => transit));

export class ProviderBook {
  readonly name: string;
  readonly disk: MemoryStore = new MemoryStore();
  readonly machines: Map<string, BookedMachine> = new Map();
  operationCount = 0;
  readonly #slots: ReadonlySet<string>;
  readonly #witness: Witness;
  readonly #operationIds = new Set<string>();

  constructor(name: string, slots: ReadonlySet<string>, witness: Witness) {
    this.name = name;
    this.#slots = slots;
    this.#witness = witness;
  }

  /** Called with every commit, in order, when it is durable. */
  kept(changes: readonly StoreChange[], nowMs: number): void {
    const operations = new Map<string, StoredOperation>();
    for (const change of changes) {
      if (change.kind === 'operation') operations.set(change.operation.machineId, change.operation);
      if (change.kind === 'machine-removed') this.#broken(`${change.machineId} was removed`);
    }
    for (const change of changes) {
      if (change.kind === 'machine') this.#machine(change.record, operations, nowMs);
    }
    for (const { machineId, kind } of operations.values()) {
      this.#broken(`${kind} of ${machineId} was accepted without a transition`);
    }
  }

  #machine(record: MachineRecord, operations: Map<string, StoredOperation>, nowMs: number): void {
    const { id, state, cluster } = record;
    const before = this.machines.get(id)?.record;
    if (!this.#slots.has(id)) this.#broken(`${id} was invented`);
    const operation = operations.get(id);
    operations.delete(id);
    if (operation !== undefined) this.#accepted(operation, before?.state ?? '', state);
    else if (TRANSITS.has(state) && before?.state !== state) {
      this.#broken(`${id} became ${state} without an operation`);
    }
    const wasBound = before?.cluster ?? '';
    if (wasBound !== '' && cluster !== '' && wasBound !== cluster) {
      this.#broken(`${id} went from ${wasBound} to ${cluster} without a drain`);
    }
    this.machines.set(id, { record, changedMs: nowMs });
    this.#witness.step(`${this.name} kept ${id} ${state} ${cluster}`);
  }

  #accepted({ machineId, kind, operationId }: StoredOperation, from: string, to: string): void {
    const [start, transit] = edges[kind];
    if (from !== start || to !== transit) {
      this.#broken(`${kind} of ${machineId} went from ${from} to ${to}`);
    }
    if (this.#operationIds.has(operationId)) this.#broken(`operation ${operationId} came twice`);
    this.#operationIds.add(operationId);
    this.operationCount += 1;
  }

  #broken(law: string): void {
    this.#witness.broken(`${this.name}: ${law}`);
  }
}
