// The credit pass: existing supply is credited to needs before anything is acquired. A machine
// is claimed by at most one need and gives it its whole allocatable; claiming stops as soon as
// nothing is open. No action comes from here.
//
// Keep order (locked) is price asc, reclamation penalty desc, id asc: what is left unclaimed is
// the tail that should be released first.
//
// Cost: per need, the eligible machines of its cluster behind those that needs of the same
// classes have used up; per claim, the dimensions. Guarded by bench engine/ours-500k-5k.

import type { EligibleSet } from '../match/eligible-set.ts';
import type { Row, RowResult } from '../needs/row.ts';
import {
  CELL,
  CLAIM,
  CLASS,
  type ClusterSupply,
  EFFECTIVE_PRIORITY,
  SLOT,
} from '../store/cluster-supply.ts';
import type { Inventory } from '../store/inventory.ts';
import {
  AGGREGATE,
  type CreditList,
  IS_ALWAYS_SERVED,
  IS_PINNED,
  MARK,
  NEED_CELL,
  OUTCOME,
  PRIORITY,
  REST,
  SET,
} from './credit-list.ts';
import { isFiniteFor, mayServeBound } from './may-serve.ts';
import type { OpenDemand } from './open-demand.ts';

export class Creditor {
  readonly #inventory: Inventory;
  readonly #open: OpenDemand;
  #claimMark = 0;
  #priority = 0;
  #credited = 0;

  constructor(inventory: Inventory, open: OpenDemand) {
    this.#inventory = inventory;
    this.#open = open;
  }

  /**
   * Credits a need without Same: Configured, Configuring, then its own machines in creation.
   * Says whether that covers it.
   */
  creditPlain(list: CreditList, place: number, supply: ClusterSupply | undefined): boolean {
    const at = place * NEED_CELL;
    const { cells } = list;
    this.#open.load(cells[at + AGGREGATE]!, cells[at + IS_ALWAYS_SERVED] === 1);
    this.#claimMark = cells[at + MARK]!;
    this.#priority = cells[at + PRIORITY]!;
    this.#credited = 0;
    if (supply !== undefined && !this.#open.isCovered) {
      this.#creditBound(list, place, supply.cells);
      if (!this.#open.isCovered && supply.end > supply.boundEnd) {
        this.#creditCreating(list.rows[place]!, supply);
      }
    }
    const isCovered = this.#open.isCovered;
    if (!isCovered) this.#open.store(cells[at + REST]!);
    const outcome = this.#credited * 2 + (isCovered ? 1 : 0);
    if (cells[at + OUTCOME] !== outcome) {
      cells[at + OUTCOME] = outcome;
      this.#write(list.rows[place]!.result);
    }
    return isCovered;
  }

  /** Starts a need that the caller credits itself. */
  begin(row: Row): void {
    this.#open.load(row.aggregate, row.isAlwaysServed);
    this.#claimMark = row.result.index + 1;
    this.#priority = row.compiled.priority;
    this.#credited = 0;
  }

  finish({ result }: Row): void {
    if (!this.#open.isCovered) this.#open.store(result.afterCredit);
    this.#write(result);
  }

  #write(result: RowResult): void {
    result.creditedCount = this.#credited;
    result.isCoveredByCredit = this.#open.isCovered;
    if (result.isCoveredByCredit) settleCovered(result);
  }

  /** Claims one machine that the caller chose. */
  claim(cells: Int32Array, at: number): void {
    cells[at + CLAIM] = this.#claimMark;
    this.#credited += 1;
    this.#open.subtract(cells[at + CLASS]!);
    // A machine is as safe as the need that it serves, even when its stamp is older. It is never
    // less safe than its stamp, so only a safer one is looked up.
    let effective = this.#priority;
    if (cells[at + EFFECTIVE_PRIORITY]! > effective) {
      effective = Math.max(effective, this.#inventory.columns.priority[cells[at + SLOT]!]!);
    }
    protect(this.#inventory, cells, at, effective);
  }

  #creditBound(list: CreditList, place: number, supply: Int32Array): void {
    const { candidates, cells } = list;
    const { places, cursors } = candidates;
    const need = place * NEED_CELL;
    const set = cells[need + SET]!;
    const { flags } = (list.sets[set] as EligibleSet).set;
    const isAlwaysServed = cells[need + IS_ALWAYS_SERVED] === 1;
    const isPinned = cells[need + IS_PINNED] === 1;
    const end = candidates.ends[set]!;
    let at = cursors[set]!;
    /** The first machine that is of no use to this need but may be to another of the set. */
    let left = -1;
    for (; at < end; at++) {
      const machine = places[at]!;
      const klass = supply[machine + CLASS]!;
      if (supply[machine + CLAIM] !== 0 || flags[klass] !== 1) continue;
      const isOfUse =
        (isAlwaysServed || this.#open.contributes(klass)) &&
        (!isPinned || this.#mayServe(list.rows[place]!, supply[machine + SLOT]!));
      if (isOfUse) {
        this.claim(supply, machine);
        if (this.#open.isCovered) break;
      } else if (left < 0) left = at;
    }
    cursors[set] = left < 0 ? at : left;
  }

  #mayServe({ compiled }: Row, slot: number): boolean {
    return mayServeBound(this.#inventory, compiled, slot);
  }

  #creditCreating(row: Row, { cells, boundEnd, end }: ClusterSupply): void {
    for (let at = boundEnd; at < end && !this.#open.isCovered; at += CELL) {
      if (!isOwnCreating(this.#inventory, row, cells, at)) continue;
      if (this.#open.contributes(cells[at + CLASS]!)) this.claim(cells, at);
    }
  }
}

/** A need that its own cluster covers takes part in nothing else. */
function settleCovered(result: RowResult): void {
  result.isSatisfied = true;
  result.bootstrapCount = 0;
  result.provisionCount = 0;
  result.awaitingDrainCount = 0;
  result.victimCount = 0;
  result.blockedBy = undefined;
}

/** Sets what preemption compares for the machine of a cell. */
export function protect(inventory: Inventory, cells: Int32Array, at: number, to: number): void {
  if (cells[at + EFFECTIVE_PRIORITY] === to) return;
  cells[at + EFFECTIVE_PRIORITY] = to;
  inventory.protect(cells[at + SLOT]!, to);
}

/** In creation for this very need: stateless, gone when the machine becomes Idle or Failed. */
export function isOwnCreating(
  inventory: Inventory,
  row: Row,
  cells: Int32Array,
  at: number,
): boolean {
  const { needFp, group } = inventory.columns;
  const slot = cells[at + SLOT]!;
  if (cells[at + CLAIM] !== 0 || needFp[slot] !== row.compiled.fingerprint) return false;
  if (row.compiled.sameKey !== undefined && group[slot] !== row.group) return false;
  const klass = cells[at + CLASS]!;
  return row.eligible.set.has(klass) && isFiniteFor(inventory, row.compiled, klass);
}
