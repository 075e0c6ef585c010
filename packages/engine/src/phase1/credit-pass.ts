// Crediting of the clusters that a cycle evaluates. A cluster is credited from its first need to
// its last while its memory is at hand. It stops at a gang that its own machines do not decide:
// such gangs compete for the shared pools and have their turns in the global order of needs.

import { assert } from '@bigfleet/base';
import { type ClusterRanks, RowSorter } from '../needs/row-order.ts';
import type { Row } from '../needs/row.ts';
import type { VectorTable } from '../store/dimensions.ts';
import { CELL, CLAIM, SLOT } from '../store/cluster-supply.ts';
import type { Inventory } from '../store/inventory.ts';
import type { ClusterDemand } from './cluster-demand.ts';
import { Creditor, protect } from './credit.ts';
import { IS_SAME, NEED_CELL } from './credit-list.ts';
import { SameCreditor, type SamePass } from './credit-same.ts';
import type { OpenDemand } from './open-demand.ts';
import { PoolView } from './pool-view.ts';
import { StepRule } from './step-rule.ts';

export class CreditPass {
  readonly #inventory: Inventory;
  readonly #creditor: Creditor;
  readonly #same: SameCreditor;
  readonly #ranks: ClusterRanks;
  readonly #sorter: RowSorter = new RowSorter();
  readonly #pools: SamePass;
  /** Clusters whose next need must look at the pools. */
  readonly #stopped: ClusterDemand[] = [];

  constructor(inventory: Inventory, open: OpenDemand, vectors: VectorTable, ranks: ClusterRanks) {
    this.#inventory = inventory;
    this.#creditor = new Creditor(inventory, open);
    this.#same = new SameCreditor(inventory, this.#creditor, open, vectors);
    this.#ranks = ranks;
    const view = new PoolView(inventory);
    this.#pools = { view, steps: new StepRule(inventory, view), pass: 0 };
  }

  /** `pass` names the evaluation to the cost orders. */
  begin(pass: number): void {
    this.#pools.pass = pass;
    this.#stopped.length = 0;
  }

  /** As far as the cluster decides alone. */
  credit(demand: ClusterDemand): void {
    const supply = this.#inventory.supplyOf(demand.cluster);
    if (supply !== undefined) {
      supply.resetClaims();
      demand.list.candidates.begin(supply);
    }
    demand.creditedUntil = 0;
    demand.open.length = 0;
    this.#continue(demand, undefined, undefined);
    demand.dependsOnPools = demand.creditedUntil < demand.list.rows.length;
    if (demand.dependsOnPools) this.#stopped.push(demand);
    else this.#settle(demand);
  }

  /** The gangs that are left, each at its turn, with the needs of its cluster before it. */
  finish(): void {
    if (this.#stopped.length === 0) return;
    const demands = new Map(this.#stopped.map((demand) => [demand.cluster, demand]));
    this.#pools.view.begin([]);
    this.#same.begin();
    for (const gang of this.#gangsInOrder()) {
      this.#continue(demands.get(gang.cluster) as ClusterDemand, gang, this.#pools);
    }
    for (const demand of this.#stopped) {
      this.#continue(demand, undefined, this.#pools);
      this.#settle(demand);
    }
  }

  #gangsInOrder(): Row[] {
    const { ranks } = this.#ranks;
    const inNameOrder = [...this.#stopped].sort((a, b) => ranks[a.cluster]! - ranks[b.cluster]!);
    const gangs: Row[] = [];
    for (const { list, creditedUntil } of inNameOrder) {
      for (let at = creditedUntil; at < list.rows.length; at++) {
        if (list.cells[at * NEED_CELL + IS_SAME] === 1) gangs.push(list.rows[at]!);
      }
    }
    this.#sorter.byPriority(gangs);
    return gangs;
  }

  /** Credits on to the end, or to the need `last`; without pools, to the first that wants them. */
  #continue(demand: ClusterDemand, last: Row | undefined, pools: SamePass | undefined): void {
    const { list, open } = demand;
    const { rows, cells } = list;
    const supply = this.#inventory.supplyOf(demand.cluster);
    for (let at = demand.creditedUntil; at < rows.length; at++) {
      if (cells[at * NEED_CELL + IS_SAME] === 0) {
        if (!this.#creditor.creditPlain(list, at, supply)) open.push(rows[at]!);
      } else {
        const row = rows[at]!;
        if (!this.#same.credit(list, at, supply, pools)) return;
        if (!row.result.isCoveredByCredit) open.push(row);
        if (row === last) {
          demand.creditedUntil = at + 1;
          return;
        }
      }
      demand.creditedUntil = at + 1;
    }
  }

  #settle(demand: ClusterDemand): void {
    assert(demand.creditedUntil === demand.list.rows.length, 'every need had its turn');
    // Folded rows are credited by priority, but stand last in normalised order.
    if (demand.list.rows !== demand.normalised) {
      demand.open.sort((a, b) => a.result.index - b.result.index);
    }
    demand.excess = excessOf(this.#inventory, demand.cluster);
  }
}

const nothing: readonly number[] = [];

/**
 * What crediting left: Configured machines without a claim, in release order, which is keep order
 * reversed. Phase 3 reclaims them without any satisfaction arithmetic of its own.
 */
function excessOf(inventory: Inventory, cluster: number): readonly number[] {
  const supply = inventory.supplyOf(cluster);
  if (supply === undefined) return nothing;
  const { priority, withheld } = inventory.columns;
  const { cells, configuredEnd } = supply;
  let excess: number[] | undefined;
  for (let at = configuredEnd - CELL; at >= 0; at -= CELL) {
    if (cells[at + CLAIM] !== 0) continue;
    const slot = cells[at + SLOT]!;
    // Nobody's claim protects it any more.
    protect(inventory, cells, at, priority[slot]!);
    if (withheld[slot] !== 0) continue;
    excess ??= [];
    excess.push(slot);
  }
  return excess ?? nothing;
}
