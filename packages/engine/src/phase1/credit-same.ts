// Crediting of a Same need: one domain, chosen once, and only machines inside it are credited.
// The need's own incumbents come first, so a newly configured stranger never bumps a machine
// that serves. What the need will probably acquire there is consumed virtually, so that later
// gangs rank against what is really left instead of all choosing the same fresh rack.
//
// When the cluster's own machines decide alone, the shared pools are not looked at: such a
// need, and with it its cluster, stays valid until something of the cluster changes.

import { type DomainCoverage, SAME_CANDIDATES_SHOWN } from '../model/cycle.ts';
import type { ConfinedSet, DomainSets } from '../match/domain-sets.ts';
import { isHeldBack, type Row } from '../needs/row.ts';
import { grown } from '../store/classes.ts';
import { CELL, CLAIM, CLASS, type ClusterSupply, SLOT } from '../store/cluster-supply.ts';
import type { VectorTable } from '../store/dimensions.ts';
import type { Inventory } from '../store/inventory.ts';
import { type Creditor, isOwnCreating } from './credit.ts';
import { type CreditList, NEED_CELL, SET } from './credit-list.ts';
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
  pass: number;
}

export class SameCreditor {
  readonly #inventory: Inventory;
  readonly #creditor: Creditor;
  readonly #open: OpenDemand;
  readonly #chooser: DomainChooser;
  readonly #totals = new WeakMap<DomainSets, DomainTotals>();
  readonly #totalsOfPinned = new WeakMap<DomainSets, DomainTotals>();
  readonly #pool: BucketPool = new BucketPool();
  /** The domains that the need may choose from, their buckets, and the buckets by domain. */
  readonly #domains: number[] = [];
  readonly #buckets: DomainBucket[] = [];
  readonly #bucketOf: (DomainBucket | undefined)[] = [];
  /** How many of the first two count: a list that is emptied gives its memory away. */
  #bucketCount = 0;
  /** Machines of the cluster that the need may use, in keep order, and their domains. */
  #usable: Int32Array = new Int32Array(64);
  #usableDomains: Int32Array = new Int32Array(64);
  #usableCount = 0;
  /** Scratch: what a ranking proposes. */
  readonly #proposed: number[] = [];
  /** Counts passes, and the classes that gangs took machines of in this one, in order. */
  #pass = 0;
  readonly #consumed: number[] = [];

  constructor(inventory: Inventory, creditor: Creditor, open: OpenDemand, vectors: VectorTable) {
    this.#inventory = inventory;
    this.#creditor = creditor;
    this.#open = open;
    this.#chooser = new DomainChooser(inventory.dimensions, vectors);
  }

  /** A new pass: nothing is spoken for. */
  begin(): void {
    this.#pass += 1;
    this.#consumed.length = 0;
  }

  /**
   * False when only the shared pools can decide and `pass` is not given; nothing was claimed
   * then.
   */
  credit(
    list: CreditList,
    place: number,
    supply: ClusterSupply | undefined,
    pass: SamePass | undefined,
  ): boolean {
    const row = list.rows[place]!;
    const { result } = row;
    const domains = row.eligible.domains(row.compiled.sameKey as string);
    this.#creditor.begin(row);
    this.#chooser.load(row.aggregate);
    this.#clear();
    if (supply !== undefined) this.#addSupply(list, place, supply, domains);
    const local = result.isParked
      ? undefined
      : this.#chooser.decidedByCredit(this.#buckets, this.#bucketCount);
    if (local === undefined && !result.isParked) {
      if (pass === undefined) return false;
      this.#addAcquirable(row, domains);
    }
    // Decided locally, the acquirable half is not in the buckets and does not matter.
    const ranked = local === undefined ? this.#ranked() : noBuckets;
    const chosen = local ?? ranked[0];
    result.domain = chosen?.value;
    result.isSatisfiable = chosen !== undefined && this.#chooser.covers(chosen.total);
    if (chosen !== undefined && supply !== undefined) this.#claimIn(row, supply, chosen);
    this.#creditor.finish(row);
    result.sameCandidates = result.isCoveredByCredit ? noCandidates : this.#shown(local, ranked);
    const mayConsume = !result.isCoveredByCredit && !result.isParked && !isHeldBack(result);
    if (chosen !== undefined && mayConsume && pass !== undefined) {
      this.#consume(row, domains.confinedTo(chosen.value) as ConfinedSet, pass);
    }
    return true;
  }

  #ranked(): readonly DomainBucket[] {
    return this.#chooser.best(this.#buckets, SAME_CANDIDATES_SHOWN, this.#bucketCount);
  }

  /** What the need could have got, for people. */
  #shown(
    local: DomainBucket | undefined,
    ranked: readonly DomainBucket[],
  ): readonly DomainCoverage[] {
    if (local !== undefined) return [this.#chooser.coverage(local)];
    return ranked.map((bucket) => this.#chooser.coverage(bucket));
  }

  #clear(): void {
    for (let at = 0; at < this.#bucketCount; at++) {
      this.#bucketOf[this.#domains[at]!] = undefined;
    }
    this.#bucketCount = 0;
    this.#usableCount = 0;
    this.#pool.begin();
  }

  #bucket(domain: number, { values }: DomainSets): DomainBucket {
    const known = this.#bucketOf[domain];
    if (known !== undefined) return known;
    const { stride } = this.#inventory.classes.allocatable;
    const bucket = this.#pool.take(values[domain]!, stride);
    this.#domains[this.#bucketCount] = domain;
    this.#buckets[this.#bucketCount++] = bucket;
    this.#bucketOf[domain] = bucket;
    return bucket;
  }

  /** Configured, Configuring, own Creating. */
  #addSupply(list: CreditList, place: number, supply: ClusterSupply, domains: DomainSets): void {
    const row = list.rows[place]!;
    const { places, starts, ends } = list.candidates;
    const set = list.cells[place * NEED_CELL + SET]!;
    const { cells, boundEnd, end } = supply;
    for (let at = starts[set]!; at < ends[set]!; at++) {
      const machine = places[at]!;
      if (this.#isUsable(row, cells, machine)) this.#addMachine(row, cells, machine, domains);
    }
    for (let machine = boundEnd; machine < end; machine += CELL) {
      if (!isOwnCreating(this.#inventory, row, cells, machine)) continue;
      if (this.#open.contributes(cells[machine + CLASS]!)) {
        this.#addMachine(row, cells, machine, domains);
      }
    }
  }

  #isUsable(row: Row, cells: Int32Array, machine: number): boolean {
    const klass = cells[machine + CLASS]!;
    return (
      cells[machine + CLAIM] === 0 &&
      row.eligible.set.has(klass) &&
      this.#open.contributes(klass) &&
      mayServeBound(this.#inventory, row.compiled, cells[machine + SLOT]!)
    );
  }

  #addMachine(row: Row, cells: Int32Array, machine: number, domains: DomainSets): void {
    const { allocatable } = this.#inventory.classes;
    const klass = cells[machine + CLASS]!;
    const domain = domains.domainOf(klass);
    if (domain < 0) return;
    if (this.#usableCount === this.#usable.length) this.#growUsable();
    this.#usable[this.#usableCount] = machine;
    this.#usableDomains[this.#usableCount++] = domain;
    const bucket = this.#bucket(domain, domains);
    bucket.count += 1;
    addMachines(bucket.total, allocatable, klass, 1);
    addMachines(bucket.creditable, allocatable, klass, 1);
    if (this.#isOwn(row, cells[machine + SLOT]!)) {
      addMachines(bucket.own, allocatable, klass, 1);
    }
  }

  #growUsable(): void {
    const capacity = this.#usable.length * 2;
    this.#usable = grown(this.#usable, new Int32Array(capacity));
    this.#usableDomains = grown(this.#usableDomains, new Int32Array(capacity));
  }

  #isOwn(row: Row, slot: number): boolean {
    const { needFp, group } = this.#inventory.columns;
    return needFp[slot] === row.compiled.fingerprint && group[slot] === row.group;
  }

  /**
   * To the domains that hold machines of the cluster, and the best of those that do not: no other
   * can be chosen or shown. Quota is not looked at: a slice never touches the choice, only what
   * can be bought.
   */
  #addAcquirable(row: Row, domains: DomainSets): void {
    const totals = this.#totalsFor(row, domains);
    totals.follow(this.#pass, this.#consumed);
    const ranking = totals.ranking(row.aggregateKey);
    ranking.follow(this.#chooser);
    this.#proposed.length = 0;
    ranking.best(SAME_CANDIDATES_SHOWN, this.#isCreditable, this.#proposed);
    for (const domain of this.#proposed) this.#bucket(domain, domains);
    for (let at = 0; at < this.#bucketCount; at++) {
      this.#addTotals(this.#buckets[at] as DomainBucket, totals, this.#domains[at]!);
    }
  }

  readonly #isCreditable = (domain: number): boolean => this.#bucketOf[domain] !== undefined;

  #addTotals(bucket: DomainBucket, { counts, sums, stride }: DomainTotals, domain: number): void {
    bucket.count += counts[domain]!;
    for (let d = 0; d < stride; d++) {
      const sum = bucket.total[d]! + sums[domain * stride + d]!;
      bucket.total[d] = Math.min(sum, Number.MAX_SAFE_INTEGER);
    }
  }

  #totalsFor({ compiled }: Row, domains: DomainSets): DomainTotals {
    const known = compiled.isPinned ? this.#totalsOfPinned : this.#totals;
    let totals = known.get(domains);
    if (totals === undefined) {
      totals = new DomainTotals(this.#inventory, domains, compiled.isPinned);
      known.set(domains, totals);
    }
    return totals;
  }

  #claimIn(row: Row, { cells }: ClusterSupply, chosen: DomainBucket): void {
    const domain = this.#domains[this.#buckets.indexOf(chosen)]!;
    this.#claimAmong(row, cells, domain, true);
    this.#claimAmong(row, cells, domain, false);
  }

  #claimAmong(row: Row, cells: Int32Array, domain: number, wantsOwn: boolean): void {
    for (let at = 0; at < this.#usableCount && !this.#open.isCovered; at++) {
      const machine = this.#usable[at]!;
      if (this.#usableDomains[at] !== domain || cells[machine + CLAIM] !== 0) continue;
      if (this.#isOwn(row, cells[machine + SLOT]!) !== wantsOwn) continue;
      if (this.#open.contributes(cells[machine + CLASS]!)) {
        this.#creditor.claim(cells, machine);
      }
    }
  }

  #consume(row: Row, confined: ConfinedSet, { view, steps, pass }: SamePass): void {
    const order = confined.order(row.compiled.interruptionBucket, pass);
    const residue = this.#open;
    while (!residue.isCovered) {
      const step = steps.next(order, residue.contributes, row.isAlwaysServed);
      if (step === undefined) return;
      view.take(step.state, step.klass);
      this.#consumed.push(step.klass);
      residue.subtract(step.klass);
    }
  }
}

const noBuckets: readonly DomainBucket[] = [];
const noCandidates: readonly DomainCoverage[] = [];
