// Everything stored, in memory: what a load returns, and what the journal's compaction writes. Only
// durable changes are applied here, so a snapshot can never hold what the journal might still lose.
// Records are immutable, so holding them aliases nothing that could change under a snapshot.
// Bound: as many machines as the provider has, one mark per (shard, machine), four operations each.

import { unreachable } from '@bigfleet/base';
import type { MachineRecord } from '../model/machine.ts';
import type { FenceMark, StoreChange, StoredOperation, StoreImage } from './store.ts';

export class StateImage {
  readonly incarnation: string;
  readonly machines: Map<string, MachineRecord> = new Map();
  readonly fences: Map<string, FenceMark> = new Map();
  readonly operations: Map<string, StoredOperation> = new Map();
  revision = 0;

  constructor(incarnation: string) {
    this.incarnation = incarnation;
  }

  /** Absolute values only, so applying a change twice gives the same image as once. */
  apply(change: StoreChange): void {
    switch (change.kind) {
      case 'machine':
        this.machines.set(change.record.id, change.record);
        return;
      case 'machine-removed':
        this.machines.delete(change.machineId);
        return;
      case 'fence':
        this.fences.set(fenceKey(change.mark), change.mark);
        return;
      case 'operation':
        this.operations.set(operationKey(change.operation), change.operation);
        return;
      case 'revision':
        this.revision = change.revision;
        return;
      default:
        return unreachable(change);
    }
  }

  applyAll(changes: Iterable<StoreChange>): void {
    for (const change of changes) this.apply(change);
  }

  toStoreImage(): StoreImage {
    return {
      incarnation: this.incarnation,
      revision: this.revision,
      machines: [...this.machines.values()],
      fences: [...this.fences.values()],
      operations: [...this.operations.values()],
    };
  }
}

/** The length keeps ('a', 'bc') and ('ab', 'c') apart; ids may hold any separator. */
function fenceKey({ shardId, machineId }: FenceMark): string {
  return `${shardId.length}:${shardId}${machineId}`;
}

function operationKey({ kind, machineId }: StoredOperation): string {
  return `${kind}:${machineId}`;
}
