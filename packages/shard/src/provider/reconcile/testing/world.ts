// A shard's inventory (the engine's own) and Lists to reconcile it with. Applies changes as the
// shard process does: put and remove, nothing else.

import { assert } from '@bigfleet/base';
import { decodeShardMetadata, Engine, type Machine, shardMetadataKeys } from '@bigfleet/engine';
import { encodeInit, MachineListSchema } from '@bigfleet/wire';
import type { ListColumns } from '../../list/columns.ts';
import { decodeMachineList } from '../../list/decode-list.ts';
import type { IngestBatch, IngestChange, RejectedRecord } from '../ingest.ts';
import { KnownMachines, type Pending } from '../known-machines.ts';
import { reconcileList, type ReconcileSummary } from '../reconcile-list.ts';
import { ShrinkGuard } from '../shrink-guard.ts';

/** A Machine message, with values that its type would not allow. */
export interface TestRecord {
  readonly id: string;
  readonly state: number;
  readonly host?: { readonly provider: string; readonly ref: string };
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: number;
  readonly pricePerHour: number;
  readonly interruptionProbability?: number;
  readonly resources: { readonly resources: Record<string, string> };
  readonly allocatable?: { readonly resources: Record<string, string> };
  readonly labels?: Record<string, string>;
  readonly lastError?: string;
  readonly cluster?: string;
  readonly shardMetadata?: Record<string, string>;
}

type ListInit = Parameters<typeof encodeInit<typeof MachineListSchema>>[1];

/** What a shard stamps, with this priority. */
export function stamped(priority: string): Record<string, string> {
  return { [shardMetadataKeys.priority]: priority };
}

/** A valid record in its state; `changes` make it what the test needs. */
export function record(id: string, state: number, changes: Partial<TestRecord> = {}): TestRecord {
  const isHosted = state >= 3 && state <= 7;
  const isBound = state >= 4 && state <= 6;
  return {
    id,
    state,
    instanceType: 'm1',
    zone: 'z1',
    capacityType: 3,
    pricePerHour: 1,
    resources: { resources: { cpu: '4' } },
    ...(isHosted ? { host: { provider: 'p', ref: `host-${id}` } } : {}),
    ...(isBound ? { cluster: 'c1', shardMetadata: stamped('7') } : {}),
    ...(state === 8 ? { lastError: 'broken' } : {}),
    ...changes,
  };
}

export function encodeRecords(...machines: readonly TestRecord[]): Uint8Array {
  return encodeInit(MachineListSchema, { machines } as ListInit);
}

export function listOf(...machines: readonly TestRecord[]): ListColumns {
  return decodeMachineList(encodeRecords(...machines));
}

/** Machines whose records wait to be offered again. */
export function waitingIds({ unsettled }: ReconcileSummary): readonly string[] {
  const columns = decodeMachineList(unsettled.waiting);
  return Array.from({ length: columns.rowCount }, (_, row) => columns.id(row));
}

/** How the rows of a List ended: each is a change, or unsettled, or says nothing new. */
export interface Counts {
  readonly changeCounts: Readonly<Record<IngestChange['kind'], number>>;
  readonly rejectedCounts: Readonly<Record<RejectedRecord['reason'], number>>;
  /** Not taken in for an action under way or a cool-down. */
  readonly skippedCount: number;
  readonly unchangedCount: number;
}

export function countsOf(summary: ReconcileSummary, batches: readonly IngestBatch[]): Counts {
  const changes = batches.flatMap((batch) => batch.changes);
  const rejected = batches.flatMap((batch) => batch.rejected);
  const changed = (kind: IngestChange['kind']): number =>
    changes.filter((change) => change.kind === kind).length;
  const refused = (reason: RejectedRecord['reason']): number =>
    rejected.filter((record) => record.reason === reason).length;
  const unsettledCount = summary.unsettled.rows.length;
  return {
    changeCounts: {
      inserted: changed('inserted'),
      moved: changed('moved'),
      refreshed: changed('refreshed'),
      replaced: changed('replaced'),
      removed: changed('removed'),
    },
    rejectedCounts: {
      price: refused('price'),
      interruption_probability: refused('interruption_probability'),
      structural: refused('structural'),
      duplicate_id: refused('duplicate_id'),
    },
    skippedCount: unsettledCount - rejected.length,
    unchangedCount: summary.rowCount - unsettledCount - (changes.length - changed('removed')),
  };
}

export interface Reconciled {
  readonly summary: ReconcileSummary & Counts;
  readonly changes: readonly IngestChange[];
  readonly rejected: readonly RejectedRecord[];
}

export class World {
  readonly inventory: Engine['inventory'] = new Engine().inventory;
  readonly pending: Map<string, Pending> = new Map();
  readonly failedHere: Map<string, number> = new Map();
  /** Written by an action after the List was asked for. */
  readonly touched: Set<string> = new Set();
  readonly guard: ShrinkGuard = new ShrinkGuard();
  readonly known: KnownMachines = new KnownMachines(this.inventory, {
    pendingOf: (slot) => this.pending.get(this.inventory.ids[slot] ?? '') ?? 'none',
    failedHereAtMs: (slot) => this.failedHere.get(this.inventory.ids[slot] ?? ''),
    isTouched: (slot) => this.touched.has(this.inventory.ids[slot] ?? ''),
  });
  nowMs = 0;

  reconcile(
    columns: ListColumns,
    options: { provider?: string; isFull?: boolean } = {},
  ): Reconciled {
    const applied: IngestBatch[] = [];
    const batches = reconcileList({
      provider: options.provider ?? 'p',
      columns,
      known: this.known,
      nowMs: this.nowMs,
      readAssignment: decodeShardMetadata,
      isFull: options.isFull ?? true,
      guard: this.guard,
    });
    let step = batches.next();
    for (; step.done !== true; step = batches.next()) {
      this.apply(step.value);
      applied.push(step.value);
    }
    return {
      summary: { ...step.value, ...countsOf(step.value, applied) },
      changes: applied.flatMap(({ changes }) => changes),
      rejected: applied.flatMap(({ rejected }) => rejected),
    };
  }

  apply({ changes }: IngestBatch): void {
    for (const change of changes) {
      if (change.kind === 'removed' || change.kind === 'replaced') {
        this.inventory.remove(change.before.id);
      }
      if (change.kind === 'removed') continue;
      const put = this.inventory.put(change.machine, this.nowMs);
      assert(put.ok, 'the inventory takes what reconcile offers', { id: change.machine.id });
    }
  }

  machine(id: string): Machine | undefined {
    const slot = this.inventory.slotOf(id);
    return slot < 0 ? undefined : this.inventory.read(slot);
  }
}
