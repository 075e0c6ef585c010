// Crediting of a Same need: one domain, chosen once, and only machines inside it are credited.
// The need's own incumbents come first, so a newly configured stranger never bumps a machine
// that serves. What the need will probably acquire there is consumed virtually, so that later
// gangs rank against what is really left instead of all choosing the same fresh rack.
//
// When the cluster's own machines decide alone, the shared pools are not looked at: such a
// need, and with it its cluster, stays valid until something of the cluster changes.

import { type DomainCoverage, SAME_CANDIDATES_SHOWN } from '../cycle/types.ts';
import type { Row } from '../needs/row.ts';
import type { ClusterSupply } from '../store/cluster-supply.ts';
import type { VectorTable } from '../store/dimensions.ts';
import type { Inventory } from '../store/inventory.ts';
import { type Creditor, isOwnCreating } from './credit.ts';
import { addMachines, type DomainBucket, DomainChooser, newBucket } from './domain-choice.ts';
import { isFiniteFor, mayServeBound } from './may-serve.ts';
import type { OpenDemand } from './open-demand.ts';
import { IDLE, type PoolView, SPECULATIVE } from './pool-view.ts';
import type { StepRule } from './step-rule.ts';

export interface SamePass {
  readonly view: PoolView;
  readonly steps: StepRule;
  /** Names the pass, so that cost orders forget what another one used up. */
  readonly pass: number;
}

export class SameCreditor {
  readonly #inventory: Inventory;
  readonly #creditor: Creditor;
  readonly #open: OpenDemand;
  readonly #chooser: DomainChooser;

  constructor(inventory: Inventory, creditor: Creditor, open: OpenDemand, vectors: VectorTable) {
    this.#inventory = inventory;
    this.#creditor = creditor;
    this.#open = open;
    this.#chooser = new DomainChooser(inventory.dimensions, vectors);
  }

  /**
   * False when only the shared pools can decide and `pass` is not given; nothing was claimed
   * then.
   */
  credit(row: Row, supply: ClusterSupply | undefined, pass: SamePass | undefined): boolean {
    const { result } = row;
    this.#creditor.begin(row);
    this.#chooser.load(row.aggregate);
    const buckets = this.#creditable(row, supply);
    let chosen = result.isParked
      ? this.#chooser.choose(buckets.values())
      : this.#localChoice(buckets);
    if (chosen === undefined && !result.isParked) {
      if (pass === undefined) return false;
      this.#addAcquirable(row, buckets, pass.view);
      chosen = this.#chooser.choose(buckets.values());
    }
    result.domain = chosen?.value;
    result.isSatisfiable = chosen !== undefined && this.#chooser.covers(chosen.total);
    if (chosen !== undefined && supply !== undefined) this.#claimIn(row, supply, chosen.value);
    this.#creditor.finish(row);
    result.sameCandidates = result.isCoveredByCredit ? [] : this.#candidates(buckets);
    const mayConsume = !result.isCoveredByCredit && !result.isParked && !result.isHeldOff;
    if (chosen !== undefined && mayConsume && pass !== undefined)
      this.#consume(row, chosen.value, pass);
    return true;
  }

  /** What the choice saw, best first: observation for needs that stay open. */
  #candidates(buckets: ReadonlyMap<string, DomainBucket>): readonly DomainCoverage[] {
    const ranked = this.#chooser.ranked(buckets.values()).slice(0, SAME_CANDIDATES_SHOWN);
    return ranked.map((bucket) => this.#chooser.coverage(bucket));
  }

  /** Decided by bound machines alone: of the buckets that credit covers, one is strictly best. */
  #localChoice(buckets: ReadonlyMap<string, DomainBucket>): DomainBucket | undefined {
    let best: DomainBucket | undefined;
    let bestOwn = -1;
    let bestExcess = Number.POSITIVE_INFINITY;
    let isTie = false;
    for (const bucket of buckets.values()) {
      if (!this.#chooser.covers(bucket.creditable)) continue;
      const own = this.#chooser.ratio(bucket.own, true);
      const excess = this.#chooser.ratio(bucket.creditable, false);
      if (own < bestOwn || (own === bestOwn && excess > bestExcess)) continue;
      isTie = own === bestOwn && excess === bestExcess;
      best = bucket;
      bestOwn = own;
      bestExcess = excess;
    }
    return isTie ? undefined : best;
  }

  #creditable(row: Row, supply: ClusterSupply | undefined): Map<string, DomainBucket> {
    const buckets = new Map<string, DomainBucket>();
    if (supply === undefined) return buckets;
    for (const groups of supply.sections) {
      for (const group of groups) {
        if (group.open === 0 || !this.#isUsableClass(row, group.klass)) continue;
        for (const slot of group.members) {
          if (this.#isUsable(row, slot)) this.#addCreditable(row, buckets, slot);
        }
      }
    }
    for (const slot of supply.creating) {
      const klass = this.#inventory.columns.klass[slot] as number;
      if (isOwnCreating(this.#inventory, row, slot) && this.#open.contributes(klass)) {
        this.#addCreditable(row, buckets, slot);
      }
    }
    return buckets;
  }

  #isUsableClass(row: Row, klass: number): boolean {
    return row.eligible.set.has(klass) && this.#open.contributes(klass);
  }

  #isUsable(row: Row, slot: number): boolean {
    return (
      this.#inventory.columns.claim[slot] === 0 &&
      mayServeBound(this.#inventory, row.compiled, slot)
    );
  }

  #addCreditable(row: Row, buckets: Map<string, DomainBucket>, slot: number): void {
    const { columns, classes } = this.#inventory;
    const klass = columns.klass[slot] as number;
    const bucket = this.#bucketOf(row, buckets, klass);
    if (bucket === undefined) return;
    bucket.count += 1;
    addMachines(bucket.total, classes.allocatable, klass, 1);
    addMachines(bucket.creditable, classes.allocatable, klass, 1);
    if (this.#isOwn(row, slot)) addMachines(bucket.own, classes.allocatable, klass, 1);
  }

  #isOwn(row: Row, slot: number): boolean {
    const { needFp, group } = this.#inventory.columns;
    return needFp[slot] === row.compiled.fingerprint && group[slot] === row.group;
  }

  #bucketOf(row: Row, buckets: Map<string, DomainBucket>, klass: number): DomainBucket | undefined {
    const { classes } = this.#inventory;
    const value = classes.valueOf(klass, row.compiled.sameKey as string);
    if (value === undefined) return undefined;
    let bucket = buckets.get(value);
    if (bucket === undefined) {
      bucket = newBucket(value, classes.allocatable.stride);
      buckets.set(value, bucket);
    }
    return bucket;
  }

  /** Quota is not looked at: a slice never touches the choice, only what can be bought. */
  #addAcquirable(row: Row, buckets: Map<string, DomainBucket>, view: PoolView): void {
    const { allocatable } = this.#inventory.classes;
    for (const klass of row.eligible.set.members) {
      if (!isFiniteFor(this.#inventory, row.compiled, klass)) continue;
      const count = view.remaining(IDLE, klass) + view.remaining(SPECULATIVE, klass);
      if (count === 0) continue;
      const bucket = this.#bucketOf(row, buckets, klass);
      if (bucket === undefined) continue;
      bucket.count += count;
      addMachines(bucket.total, allocatable, klass, count);
    }
  }

  #claimIn(row: Row, supply: ClusterSupply, domain: string): void {
    const slots = this.#usableIn(row, supply, domain);
    for (const wantsOwn of [true, false]) {
      for (const slot of slots) {
        if (this.#open.isCovered) return;
        const klass = this.#inventory.columns.klass[slot] as number;
        if (this.#isOwn(row, slot) !== wantsOwn || !this.#open.contributes(klass)) continue;
        this.#creditor.claim(slot);
        this.#countClaim(supply, slot);
      }
    }
  }

  /** Configured, Configuring, own Creating; each by price, reclamation penalty, id. */
  #usableIn(row: Row, supply: ClusterSupply, domain: string): number[] {
    const { classes, columns } = this.#inventory;
    const key = row.compiled.sameKey as string;
    const isInside = (klass: number): boolean => classes.valueOf(klass, key) === domain;
    const slots: number[] = [];
    for (const groups of supply.sections) {
      const section: number[] = [];
      for (const group of groups) {
        if (group.open === 0 || !row.eligible.set.has(group.klass) || !isInside(group.klass))
          continue;
        for (const slot of group.members) if (this.#isUsable(row, slot)) section.push(slot);
      }
      // Groups are in keep order already; only classes of one tier interleave by id.
      slots.push(...section.sort((a, b) => compareKeep(this.#inventory, a, b)));
    }
    for (const slot of supply.creating) {
      if (isOwnCreating(this.#inventory, row, slot) && isInside(columns.klass[slot] as number)) {
        slots.push(slot);
      }
    }
    return slots;
  }

  #countClaim(supply: ClusterSupply, slot: number): void {
    const { columns } = this.#inventory;
    const klass = columns.klass[slot];
    const bucket = columns.reclamationBucket[slot];
    for (const groups of supply.sections) {
      const group = groups.find((g) => g.klass === klass && g.reclamationBucket === bucket);
      if (group === undefined || group.members.indexOf(slot) < 0) continue;
      group.open -= 1;
      return;
    }
  }

  #consume(row: Row, domain: string, { view, steps, pass }: SamePass): void {
    const confined = row.eligible.domains(row.compiled.sameKey as string).confinedTo(domain);
    const order = confined.order(row.compiled.interruptionBucket, pass);
    const residue = this.#open;
    const { provider } = this.#inventory.classes;
    while (!residue.isCovered) {
      const step = steps.next(order, residue.contributes);
      if (step === undefined) return;
      view.take(step.state, step.klass, provider[step.klass] as number);
      residue.subtract(step.klass);
    }
  }
}

/** Keep order: price asc, reclamation penalty desc, id asc. */
export function compareKeep({ columns, classes }: Inventory, a: number, b: number): number {
  const price = (slot: number): number => classes.price[columns.klass[slot] as number] as number;
  return (
    price(a) - price(b) ||
    (columns.reclamationBucket[b] as number) - (columns.reclamationBucket[a] as number) ||
    (columns.rank[a] as number) - (columns.rank[b] as number)
  );
}
