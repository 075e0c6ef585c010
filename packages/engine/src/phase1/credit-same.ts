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
import { addMachines, BucketPool, type DomainBucket, DomainChooser } from './domain-choice.ts';
import { DomainTotals } from './domain-totals.ts';
import { mayServeBound } from './may-serve.ts';
import type { OpenDemand } from './open-demand.ts';
import type { PoolView } from './pool-view.ts';
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
  readonly #pool: BucketPool = new BucketPool();
  readonly #totals = new Map<string, DomainTotals>();

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
    const local = result.isParked ? undefined : this.#localChoice(buckets);
    if (local === undefined && !result.isParked) {
      if (pass === undefined) return false;
      this.#addAcquirable(row, buckets, pass);
    }
    const best = this.#chooser.best(buckets.values(), SAME_CANDIDATES_SHOWN);
    // Decided locally, the acquirable half is not in the buckets and does not matter.
    const chosen = local ?? best[0];
    result.domain = chosen?.value;
    result.isSatisfiable = chosen !== undefined && this.#chooser.covers(chosen.total);
    if (chosen !== undefined && supply !== undefined) this.#claimIn(row, supply, chosen.value);
    this.#creditor.finish(row);
    result.sameCandidates = result.isCoveredByCredit
      ? noCandidates
      : best.map((bucket) => this.#chooser.coverage(bucket));
    const mayConsume = !result.isCoveredByCredit && !result.isParked && !result.isHeldOff;
    if (chosen !== undefined && mayConsume && pass !== undefined) {
      this.#consume(row, chosen.value, pass);
    }
    return true;
  }

  /** A new pass: nothing is spoken for. */
  begin(): void {
    this.#totals.clear();
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
    this.#pool.begin();
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
    return buckets.get(value) ?? this.#newBucket(buckets, value);
  }

  #newBucket(buckets: Map<string, DomainBucket>, value: string): DomainBucket {
    const bucket = this.#pool.take(value, this.#inventory.classes.allocatable.stride);
    buckets.set(value, bucket);
    return bucket;
  }

  /** Quota is not looked at: a slice never touches the choice, only what can be bought. */
  #addAcquirable(row: Row, buckets: Map<string, DomainBucket>, { view }: SamePass): void {
    const totals = this.#totalsFor(row, view);
    const { values, counts, sums, stride } = totals;
    for (let domain = 0; domain < values.length; domain++) {
      const count = counts[domain] as number;
      if (count === 0) continue;
      const value = values[domain] as string;
      const bucket = buckets.get(value) ?? this.#newBucket(buckets, value);
      bucket.count += count;
      for (let d = 0; d < stride; d++) {
        const sum = (bucket.total[d] as number) + (sums[domain * stride + d] as number);
        bucket.total[d] = Math.min(sum, Number.MAX_SAFE_INTEGER);
      }
    }
  }

  #totalsFor({ compiled, eligible, eligibleKey }: Row, view: PoolView): DomainTotals {
    const key = `${eligibleKey}|${compiled.isPinned}`;
    let totals = this.#totals.get(key);
    if (totals === undefined) {
      totals = new DomainTotals(this.#inventory, compiled, eligible, view);
      this.#totals.set(key, totals);
    }
    return totals;
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
      const step = steps.next(order, residue.contributes, row.isAlwaysServed);
      if (step === undefined) return;
      view.take(step.state, step.klass, provider[step.klass] as number);
      for (const totals of this.#totals.values()) totals.consume(step.klass);
      residue.subtract(step.klass);
    }
  }
}

const noCandidates: readonly DomainCoverage[] = [];

/** Keep order: price asc, reclamation penalty desc, id asc. */
export function compareKeep({ columns, classes }: Inventory, a: number, b: number): number {
  const price = (slot: number): number => classes.price[columns.klass[slot] as number] as number;
  return (
    price(a) - price(b) ||
    (columns.reclamationBucket[b] as number) - (columns.reclamationBucket[a] as number) ||
    (columns.rank[a] as number) - (columns.rank[b] as number)
  );
}
