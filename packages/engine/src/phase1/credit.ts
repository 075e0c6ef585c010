// The credit pass: existing supply is credited to needs before anything is acquired. A machine
// is claimed by at most one need and gives it its whole allocatable; claiming stops as soon as
// nothing is open. No action comes from here.
//
// Keep order (locked) is price asc, reclamation penalty desc, id asc: what is left unclaimed is
// the tail that should be released first.
//
// Cost: per need, the groups of its cluster; per claim, the dimensions. Guarded by bench
// engine/ours-500k-5k.

import { TierHeads } from '../match/tier-heads.ts';
import type { Row } from '../needs/row.ts';
import type { ClusterSupply, SupplyGroup } from '../store/cluster-supply.ts';
import type { Inventory } from '../store/inventory.ts';
import { isFiniteFor, mayServeBound } from './may-serve.ts';
import type { OpenDemand } from './open-demand.ts';

/** Every machine of the cluster is unclaimed again. */
export function resetClaims(inventory: Inventory, supply: ClusterSupply): void {
  const { claim } = inventory.columns;
  for (const groups of supply.sections) {
    for (const group of groups) {
      group.cursor = 0;
      group.open = group.members.length;
      for (const slot of group.members) claim[slot] = 0;
    }
  }
  for (const slot of supply.creating) claim[slot] = 0;
}

export class Creditor {
  readonly #inventory: Inventory;
  readonly #open: OpenDemand;
  /** Heads of the groups that one tier offers. */
  readonly #heads: Head[] = [];
  readonly #heap: TierHeads = new TierHeads();
  #claimMark = 0;
  #priority = 0;
  #credited = 0;

  constructor(inventory: Inventory, open: OpenDemand) {
    this.#inventory = inventory;
    this.#open = open;
  }

  /** Credits a need without Same: Configured, Configuring, then its own machines in creation. */
  creditPlain(row: Row, supply: ClusterSupply | undefined): void {
    this.begin(row);
    if (supply !== undefined) {
      this.#creditSection(row, supply.sections[0]);
      if (!this.#open.isCovered) this.#creditSection(row, supply.sections[1]);
      if (!this.#open.isCovered) this.#creditCreating(row, supply.creating);
    }
    this.finish(row);
  }

  begin(row: Row): void {
    this.#open.load(row.aggregate, row.isAlwaysServed);
    this.#claimMark = row.result.index + 1;
    this.#priority = row.compiled.priority;
    this.#credited = 0;
  }

  finish(row: Row): void {
    const { result } = row;
    this.#open.store(result.afterCredit);
    result.creditedCount = this.#credited;
    result.isCoveredByCredit = this.#open.isCovered;
  }

  /** Claims one machine that the caller chose. */
  claim(slot: number): void {
    const { columns } = this.#inventory;
    columns.claim[slot] = this.#claimMark;
    this.#credited += 1;
    this.#open.subtract(columns.klass[slot] as number);
    // A machine is as safe as the need that it serves, even when its stamp is older.
    const stamped = columns.priority[slot] as number;
    const effective = stamped > this.#priority ? stamped : this.#priority;
    if (columns.effectivePriority[slot] !== effective) this.#inventory.protect(slot, effective);
  }

  #creditSection(row: Row, groups: readonly SupplyGroup[]): void {
    const { flags } = row.eligible.set;
    let start = 0;
    while (start < groups.length && !this.#open.isCovered) {
      const first = groups[start] as SupplyGroup;
      let end = start + 1;
      while (end < groups.length && isSameTier(groups[end] as SupplyGroup, first)) end++;
      this.#creditTier(row, flags, groups, start, end);
      start = end;
    }
  }

  /** Classes of equal price and penalty: their machines go by id. */
  #creditTier(
    row: Row,
    flags: Uint8Array,
    groups: readonly SupplyGroup[],
    start: number,
    end: number,
  ): void {
    let offered = 0;
    for (let at = start; at < end; at++) {
      const group = groups[at] as SupplyGroup;
      if (group.open === 0 || flags[group.klass] !== 1) continue;
      if (this.#open.contributes(group.klass)) this.#offer(row, group, offered++);
    }
    if (offered === 1) this.#drain(row, this.#heads[0] as Head);
    else if (offered > MANY_GROUPS) this.#mergeMany(row, offered);
    else if (offered > 1) this.#merge(row, offered);
  }

  #offer(row: Row, group: SupplyGroup, at: number): void {
    let head = this.#heads[at];
    if (head === undefined) {
      head = { group, index: 0, isRestricted: false };
      this.#heads[at] = head;
    }
    head.group = group;
    head.index = group.cursor;
    head.isRestricted = !isFiniteFor(this.#inventory, row.compiled, group.klass);
  }

  #drain(row: Row, head: Head): void {
    while (this.#advance(row, head)) {
      this.#take(head);
      if (!this.#open.contributes(head.group.klass)) return;
    }
  }

  #merge(row: Row, offered: number): void {
    const { rank } = this.#inventory.columns;
    while (!this.#open.isCovered) {
      let best: Head | undefined;
      let bestRank = Number.POSITIVE_INFINITY;
      for (let at = 0; at < offered; at++) {
        const head = this.#heads[at] as Head;
        if (!this.#advance(row, head) || !this.#open.contributes(head.group.klass)) continue;
        const headRank = rank[head.group.members[head.index] as number] as number;
        if (headRank < bestRank) {
          best = head;
          bestRank = headRank;
        }
      }
      if (best === undefined) return;
      this.#take(best);
    }
  }

  /** The same over many groups, with a heap of their heads. */
  #mergeMany(row: Row, offered: number): void {
    const { rank } = this.#inventory.columns;
    const heap = this.#heap;
    heap.begin(0, offered);
    const keyOf = (head: Head): number => rank[head.group.members[head.index] as number] as number;
    for (let at = 0; at < offered; at++) {
      const head = this.#heads[at] as Head;
      if (this.#advance(row, head)) heap.push(at, keyOf(head));
    }
    while (!heap.isEmpty && !this.#open.isCovered) {
      const head = this.#heads[heap.topClass] as Head;
      if (!this.#open.contributes(head.group.klass)) {
        heap.pop();
        continue;
      }
      this.#take(head);
      if (this.#advance(row, head)) heap.replaceTop(keyOf(head));
      else heap.pop();
    }
  }

  /** Moves to the next member that this need may claim; false at the end. */
  #advance(row: Row, head: Head): boolean {
    const { claim } = this.#inventory.columns;
    const { members } = head.group;
    for (; head.index < members.length; head.index++) {
      const slot = members[head.index] as number;
      if (claim[slot] !== 0) continue;
      if (!head.isRestricted || mayServeBound(this.#inventory, row.compiled, slot)) return true;
    }
    return false;
  }

  #take(head: Head): void {
    const { group } = head;
    this.claim(group.members[head.index] as number);
    group.open -= 1;
    if (group.cursor === head.index) group.cursor += 1;
    head.index += 1;
  }

  #creditCreating(row: Row, creating: readonly number[]): void {
    for (const slot of creating) {
      if (this.#open.isCovered) return;
      if (isOwnCreating(this.#inventory, row, slot)) {
        const klass = this.#inventory.columns.klass[slot] as number;
        if (this.#open.contributes(klass)) this.claim(slot);
      }
    }
  }
}

/** From here on a heap is cheaper than a walk over the heads per claim. */
const MANY_GROUPS = 6;

interface Head {
  group: SupplyGroup;
  index: number;
  /** Only machines that serve the need already may be claimed. */
  isRestricted: boolean;
}

/** In creation for this very need: stateless, gone when the machine becomes Idle or Failed. */
export function isOwnCreating(inventory: Inventory, row: Row, slot: number): boolean {
  const { claim, klass, needFp, group } = inventory.columns;
  if (claim[slot] !== 0 || needFp[slot] !== row.compiled.fingerprint) return false;
  if (row.compiled.sameKey !== undefined && group[slot] !== row.group) return false;
  const machineClass = klass[slot] as number;
  return row.eligible.set.has(machineClass) && isFiniteFor(inventory, row.compiled, machineClass);
}

function isSameTier(a: SupplyGroup, b: SupplyGroup): boolean {
  return a.price === b.price && a.reclamationBucket === b.reclamationBucket;
}
