// The two faces of an engine: what reaches it, and what may be read from it. Code that takes
// these instead of an Engine runs with and without a recorder. The view has no method and no
// container through which a decision could be influenced, so whoever holds a view cannot feed
// the engine behind the recorder's back. Types only; an Engine has both faces.

import type { ActionBuffer } from '../actions/action-buffer.ts';
import type { CycleOptions, Engine } from '../cycle/engine.ts';
import type { ParkingLedger, ShortfallLedger } from '../cycle/ledgers.ts';
import type { ReleasePolicy } from '../model/capacity-type.ts';
import type { NeedsTable } from '../needs/needs-table.ts';
import type { Row, RowResult } from '../needs/row.ts';
import type { Columns } from '../store/columns.ts';
import type { Interner } from '../store/interner.ts';
import type { Inventory } from '../store/inventory.ts';

/** Every way by which a machine enters, changes or leaves. */
export type InventoryInputs = Pick<
  Inventory,
  'put' | 'remove' | 'move' | 'withhold' | 'setIdleSince'
>;

/** Every way by which an input reaches an engine. */
export interface EngineInputs
  extends Pick<Engine, 'applyRollup' | 'markReported' | 'setHeldOff' | 'setBrakes'> {
  readonly inventory: InventoryInputs;
  releasePolicy: ReleasePolicy;
  cycle(options: CycleOptions): void;
}

type ReadonlyColumns<T> = {
  readonly [K in keyof T as T[K] extends ArrayLike<number> ? K : never]: ArrayLike<number>;
};

export interface RowView extends Pick<Row, 'need' | 'cluster' | 'isFolded'> {
  readonly result: Readonly<RowResult>;
}

export interface ActionsView extends ReadonlyColumns<Pick<ActionBuffer, ActionColumn>> {
  readonly length: number;
  readonly row: readonly (RowView | undefined)[];
}

type ActionColumn = 'kind' | 'slot' | 'cluster' | 'graceSeconds' | 'preemptorPriority';

export interface InventoryView
  extends Pick<Inventory, 'size' | 'slotCount' | 'slotOf' | 'read' | 'drainingCount'> {
  readonly ids: readonly string[];
  readonly clusters: Pick<Interner, 'text' | 'find'>;
  readonly columns: ReadonlyColumns<Columns>;
  readonly stateCounts: ArrayLike<number>;
}

export interface NeedsView extends Pick<NeedsTable, 'clusterCount' | 'rowCount' | 'clusters'> {
  rowsOf(cluster: number): readonly RowView[];
}

export interface EngineView extends Pick<Engine, 'cycleCount' | 'reportedClusters'> {
  readonly inventory: InventoryView;
  readonly needs: NeedsView;
  readonly actions: ActionsView;
  readonly parking: Pick<ParkingLedger, 'ages'>;
  readonly shortfalls: Pick<ShortfallLedger, 'entries'>;
  readonly releasePolicy: ReleasePolicy;
}
