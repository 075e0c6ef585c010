// The machines of one cluster, arranged for crediting: Configured and Configuring machines in
// groups that keep order cannot tell apart except by id, groups in keep order, members by id.
// Crediting then skips what does not match a group at a time.

import type { Classes } from './classes.ts';

/** Machines of one class and one reclamation penalty. */
export interface SupplyGroup {
  readonly klass: number;
  readonly price: number;
  readonly reclamationBucket: number;
  /** Slots in ascending id order. */
  readonly members: number[];
  /** During crediting: members before it are claimed. */
  cursor: number;
  /** During crediting: members without a claim. */
  open: number;
}

export const CONFIGURED_SECTION = 0;
export const CONFIGURING_SECTION = 1;

export class ClusterSupply {
  /** Configured, Configuring: each in keep order (price asc, reclamation penalty desc). */
  readonly sections: readonly [SupplyGroup[], SupplyGroup[]] = [[], []];
  /** Creating machines that were bought for this cluster, in keep order. */
  readonly creating: number[] = [];

  get isEmpty(): boolean {
    return (
      this.sections[0].length === 0 && this.sections[1].length === 0 && this.creating.length === 0
    );
  }

  get configuredCount(): number {
    let count = 0;
    for (const group of this.sections[CONFIGURED_SECTION]) count += group.members.length;
    return count;
  }

  add(section: 0 | 1, slot: number, place: Place): void {
    const groups = this.sections[section];
    const at = lowerBound(groups, place);
    let group = groups[at];
    if (group === undefined || compareGroups(group, place) !== 0) {
      group = { ...place, members: [], cursor: 0, open: 0 };
      groups.splice(at, 0, group);
    }
    insertByRank(group.members, slot, place.rank);
  }

  remove(section: 0 | 1, slot: number, place: Place): void {
    const groups = this.sections[section];
    const at = lowerBound(groups, place);
    const group = groups[at] as SupplyGroup;
    removeByRank(group.members, slot, place.rank);
    if (group.members.length === 0) groups.splice(at, 1);
  }

  addCreating(slot: number, classes: Classes, columns: KeepColumns): void {
    this.creating.splice(this.#creatingPlace(slot, classes, columns), 0, slot);
  }

  /** Before any column of the slot changes. */
  removeCreating(slot: number, classes: Classes, columns: KeepColumns): void {
    this.creating.splice(this.#creatingPlace(slot, classes, columns), 1);
  }

  #creatingPlace(slot: number, classes: Classes, columns: KeepColumns): number {
    let low = 0;
    let high = this.creating.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeep(this.creating[middle] as number, slot, classes, columns) < 0)
        low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** What keep order reads of a machine. */
export interface KeepColumns {
  readonly klass: Uint32Array;
  readonly reclamationBucket: Uint8Array;
  readonly rank: Uint32Array;
}

/** Price asc, reclamation penalty desc, id asc. */
function compareKeep(a: number, b: number, { price }: Classes, columns: KeepColumns): number {
  const { klass, reclamationBucket, rank } = columns;
  return (
    (price[klass[a] as number] as number) - (price[klass[b] as number] as number) ||
    (reclamationBucket[b] as number) - (reclamationBucket[a] as number) ||
    (rank[a] as number) - (rank[b] as number)
  );
}

/** Where a slot belongs. */
export interface Place {
  readonly klass: number;
  readonly price: number;
  readonly reclamationBucket: number;
  readonly rank: Uint32Array;
}

type GroupKey = Pick<SupplyGroup, 'klass' | 'price' | 'reclamationBucket'>;

/** Keep order; classes of one price and penalty stand side by side, so that a tier is a run. */
function compareGroups(a: GroupKey, b: GroupKey): number {
  return a.price - b.price || b.reclamationBucket - a.reclamationBucket || a.klass - b.klass;
}

function lowerBound(groups: readonly SupplyGroup[], place: GroupKey): number {
  let low = 0;
  let high = groups.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareGroups(groups[middle] as SupplyGroup, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function insertByRank(members: number[], slot: number, rank: Uint32Array): void {
  const at = positionByRank(members, slot, rank);
  if (at === members.length) members.push(slot);
  else members.splice(at, 0, slot);
}

function removeByRank(members: number[], slot: number, rank: Uint32Array): void {
  members.splice(positionByRank(members, slot, rank), 1);
}

function positionByRank(members: readonly number[], slot: number, rank: Uint32Array): number {
  const key = rank[slot] as number;
  let low = 0;
  let high = members.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rank[members[middle] as number] as number) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
