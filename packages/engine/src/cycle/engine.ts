// The decision engine: (inventory, demand, now) → actions. One writer, no I/O, no clock, no
// randomness; the same inputs give the same bytes on any machine.
//
// A cycle evaluates what changed. Crediting is local to a cluster unless one of its Same needs
// had to look at the shared pools, so its result is kept until the cluster's demand or supply
// changes. A full pass evaluates every cluster with the same code; that incremental equals full
// is the law, tested after any sequence of changes, and checked by a scheduled full pass.

import { assert, err, ok, type Result } from '@bigfleet/base';
import { DEFAULT_RELEASE_POLICY, type ReleasePolicy } from '../model/capacity-type.ts';
import type { Need } from '../model/need.ts';
import type { Resources } from '../model/resources.ts';
import { EligibleSets } from '../match/eligible-set.ts';
import { CompiledProfiles } from '../needs/compiled-profile.ts';
import { NeedsTable, type RowContext } from '../needs/needs-table.ts';
import type { Row } from '../needs/row.ts';
import { Acquirer } from '../phase1/acquire.ts';
import { ClusterDemand, type NormaliseContext } from '../phase1/cluster-demand.ts';
import { CreditPass } from '../phase1/credit-pass.ts';
import { FoldKeys } from '../needs/fold-keys.ts';
import { Foldability } from '../phase1/foldable.ts';
import { OpenDemand } from '../phase1/open-demand.ts';
import { PoolView } from '../phase1/pool-view.ts';
import { StepRule } from '../phase1/step-rule.ts';
import { Preemptor } from '../phase2/preempt.ts';
import { Reclaimer } from '../phase3/reclaim.ts';
import { VectorTable } from '../store/dimensions.ts';
import { Inventory } from '../store/inventory.ts';
import { Recorder, type ShortNeed } from '../record/recorder.ts';
import { ActionBuffer } from '../actions/action-buffer.ts';
import { type Allowance, type Brakes, machineTypeKey } from '../model/brakes.ts';
import { isParkedAt, ParkingLedger, ShortfallLedger, type Unresolved } from './ledgers.ts';
import { reasonCode } from './reasons.ts';
import { ClusterRanks, compareByPriority, RowSorter } from '../needs/row-order.ts';
import { heldOffKey } from '../model/cycle.ts';

/** Evaluate everything when more than this share of the clusters changed. */
const FULL_PASS_DIRTY_SHARE = 0.5;

/** How often everything is evaluated again and compared. */
const SAFETY_PASS_EVERY_CYCLES = 100;
const FULL_PASSES_AFTER_MISMATCH = 100;

/** Rows that acquisition fetches at once: their misses overlap. */
const ROWS_AHEAD = 16;

export type PassKind = 'incremental' | 'full' | 'safety';

export type EnginePhase = 'phase1' | 'phase2' | 'phase3';

export interface EngineOptions {
  /** 1 never does a full pass by itself: tests of the incremental path. */
  readonly fullPassDirtyShare?: number;
  /** Write a decision record per cycle; on unless told otherwise. */
  readonly hasRecords?: boolean;
  /**
   * Told when a phase is over: who has a clock can time them. A safety pass goes through all three
   * once more in the same cycle.
   */
  readonly onPhaseEnd?: (phase: EnginePhase) => void;
}

export interface CycleOptions {
  readonly nowMs: number;
  /** Speculative machines that may still be bought, by provider name; absent is unlimited. */
  readonly quotaRemaining?: ReadonlyMap<string, number>;
  /** Evaluate every cluster, whatever changed. */
  readonly isFullPass?: boolean;
}

export class Engine {
  readonly inventory: Inventory = new Inventory();
  readonly needs: NeedsTable;
  readonly actions: ActionBuffer = new ActionBuffer();
  readonly parking: ParkingLedger = new ParkingLedger();
  readonly shortfalls: ShortfallLedger = new ShortfallLedger();
  releasePolicy: ReleasePolicy = DEFAULT_RELEASE_POLICY;
  /**
   * Clusters whose results a cycle may have changed. Every cycle adds to it while a reader of results has put
   * one here; that reader takes out what it has read. Nothing is decided by it.
   */
  touchedClusters: Set<number> | undefined;
  readonly #vectors: VectorTable = new VectorTable(this.inventory.dimensions);
  readonly #normaliseContext: NormaliseContext;
  readonly #folds: FoldKeys = new FoldKeys(this.inventory, this.#vectors);
  readonly #open: OpenDemand = new OpenDemand(this.#vectors, this.inventory.classes.allocatable);
  readonly #credits: CreditPass;
  readonly #claimView: PoolView = new PoolView(this.inventory);
  readonly #acquirer: Acquirer;
  readonly #preemptor: Preemptor;
  readonly #reclaimer: Reclaimer;
  readonly #ranks: ClusterRanks = new ClusterRanks(this.inventory.clusters);
  readonly #sorter: RowSorter = new RowSorter();
  readonly #demands = new Map<number, ClusterDemand>();
  readonly #poolClusters = new Set<number>();
  readonly #openClusters = new Set<number>();
  readonly #excessClusters = new Set<number>();
  #heldOff: ReadonlySet<string> = new Set();
  /** By `heldOffKey`; the rows of a key share its allowance. */
  readonly #braked = new Map<string, Allowance>();
  /** By `machineTypeKey`. */
  #brakedTypes: ReadonlyMap<string, number> = new Map();
  readonly #dirty = new Set<number>();
  readonly #fullPassDirtyShare: number;
  /** Whether a cycle writes its record; may change between cycles and decides nothing else. */
  hasRecords: boolean;
  readonly #recorder: Recorder;
  readonly #onPhaseEnd: ((phase: EnginePhase) => void) | undefined;
  #record: Uint8Array = noRecord;
  #cycle = 0;
  /** Counts evaluations: names the passes to the cost orders. */
  #decisions = 0;
  #pass: PassKind = 'full';
  #mismatchCount = 0;
  #fullPassesLeft = 0;
  /** Needs that acquisition left open, by priority. */
  readonly #unsatisfied: Row[] = [];
  /** Places in it, made for the first reader after a cycle: looking for each of many rows would cost their square. */
  #unsatisfiedAt: ReadonlyMap<Row, number> | undefined;
  /** Scratch: the open needs of the cycle. */
  readonly #rows: Row[] = [];
  /** Scratch: the clusters that the cycle credits. */
  readonly #evaluated: ClusterDemand[] = [];
  readonly #residues: number[] = [];

  constructor(options: EngineOptions = {}) {
    const share = options.fullPassDirtyShare ?? FULL_PASS_DIRTY_SHARE;
    assert(share >= 0, 'the share of dirty clusters is a number from 0', { share });
    this.#fullPassDirtyShare = share;
    this.#onPhaseEnd = options.onPhaseEnd;
    this.hasRecords = options.hasRecords ?? true;
    this.#recorder = new Recorder(this.inventory, this.#vectors, this.#claimView, this.actions);
    const eligible = new EligibleSets(this.inventory.classes);
    const profiles = new CompiledProfiles(eligible, this.inventory.fingerprints);
    const { groups, digest } = this.inventory;
    const rows: RowContext = { profiles, eligible, groups, vectors: this.#vectors, digest };
    this.needs = new NeedsTable(rows);
    this.#normaliseContext = {
      needs: this.needs,
      rows,
      foldKeys: this.#folds,
      foldability: new Foldability(this.inventory, this.#vectors),
    };
    this.#credits = new CreditPass(this.inventory, this.#open, this.#vectors, this.#ranks);
    this.#acquirer = new Acquirer(
      this.inventory,
      this.#open,
      this.#claimView,
      new StepRule(this.inventory, this.#claimView),
      this.actions,
    );
    this.#preemptor = new Preemptor(this.inventory, this.#open, this.#vectors, this.actions);
    this.#reclaimer = new Reclaimer(this.inventory, this.#claimView, this.actions);
  }

  /** Cycles so far. */
  get cycleCount(): number {
    return this.#cycle;
  }

  /**
   * A cluster's whole demand, replaced; also its first roll-up, if it had none. Refused when its
   * rows together name more resources than a shard can hold: then nothing of it was heard, the
   * demand of before stays, and a cluster that was silent still is.
   */
  applyRollup(cluster: string, needs: readonly Need[]): Result<void, 'too_large'> {
    if (!this.inventory.dimensions.hasRoomForAll(needs)) return err('too_large');
    const index = this.inventory.clusterIndex(cluster);
    this.#reclaimer.markReported(index);
    this.needs.replace(index, needs);
    return ok(undefined);
  }

  /** A roll-up that is held back still ends the silence of its cluster. */
  markReported(cluster: string): void {
    this.#reclaimer.markReported(this.inventory.clusterIndex(cluster));
  }

  /** Clusters whose first roll-up has arrived. */
  reportedClusters(): Set<string> {
    const { clusters } = this.inventory;
    return new Set([...this.#reclaimer.reportedClusters].map((index) => clusters.text(index)));
  }

  /** Pairs of (cluster, fingerprint) whose operator refused a bootstrap; see `heldOffKey`. */
  setHeldOff(heldOff: ReadonlySet<string>): void {
    for (const key of symmetricDifference(this.#heldOff, heldOff)) this.#markClusterOf(key);
    this.#heldOff = heldOff;
  }

  /** Needs and instance types whose Configures fail, and what they may still try per cycle. */
  setBrakes({ needs, types }: Brakes): void {
    for (const key of this.#braked.keys()) {
      if (needs.has(key)) continue;
      this.#braked.delete(key);
      this.#markClusterOf(key);
    }
    for (const [key, allowed] of needs) {
      assert(allowed >= 0, 'a brake allows a number from 0', { allowed });
      const brake = this.#braked.get(key);
      if (brake?.allowed === allowed) continue;
      this.#braked.set(key, { allowed, left: allowed });
      this.#markClusterOf(key);
    }
    this.#brakedTypes = new Map(types);
  }

  #markClusterOf(heldOffKey: string): void {
    const cluster = this.inventory.clusters.find(heldOffKey.slice(0, heldOffKey.indexOf('\u0000')));
    if (cluster >= 0) this.#dirty.add(cluster);
  }

  /** Decides; the result stands in `actions` until the next cycle. */
  cycle(options: CycleOptions): void {
    assert(Number.isFinite(options.nowMs), 'holds and ages are counted from an instant');
    this.#cycle += 1;
    const dirty = this.#collectDirty();
    const isFull =
      options.isFullPass === true ||
      this.#fullPassesLeft > 0 ||
      dirty.size > this.#demands.size * this.#fullPassDirtyShare;
    if (isFull) this.#addAll(dirty);
    this.#pass = isFull ? 'full' : 'incremental';
    this.#decide(dirty, options);
    dirty.clear();
    if (this.#fullPassesLeft > 0) this.#fullPassesLeft -= 1;
    if (!isFull && this.#cycle % SAFETY_PASS_EVERY_CYCLES === 0) this.#safetyPass(options);
    this.#updateLedgers(options.nowMs);
  }

  /** How the last cycle was evaluated. */
  get pass(): PassKind {
    return this.#pass;
  }

  /** Safety passes that found another answer than the incremental one. Any is a bug. */
  get mismatchCount(): number {
    return this.#mismatchCount;
  }

  /** Evaluates everything again; a difference is counted and healed by full passes. */
  #safetyPass(options: CycleOptions): void {
    this.#pass = 'safety';
    const incremental = this.actions.checksum();
    const all = new Set<number>();
    this.#addAll(all);
    this.#decide(all, options);
    if (this.actions.checksum() === incremental) return;
    this.#mismatchCount += 1;
    this.#fullPassesLeft = FULL_PASSES_AFTER_MISMATCH;
  }

  /** In the order of the roll-ups, in which most of a cluster's memory was laid out. */
  #addAll(dirty: Set<number>): void {
    const marked = [...dirty];
    dirty.clear();
    for (const cluster of this.needs.clusters()) dirty.add(cluster);
    for (const cluster of this.#demands.keys()) dirty.add(cluster);
    for (const cluster of marked) dirty.add(cluster);
  }

  /** Phases 1 to 3 over the clusters that are dirty and what is remembered of the others. */
  #decide(dirty: ReadonlySet<number>, options: CycleOptions): void {
    const { allocatable } = this.inventory.classes;
    assert(allocatable.stride === this.#vectors.stride, 'demand and supply count other dimensions');
    this.#decisions += 1;
    this.actions.clear();
    this.#credit(dirty);
    this.#acquire(this.#quotaByProvider(options.quotaRemaining));
    if (this.touchedClusters !== undefined) this.#noteTouched(this.touchedClusters, dirty);
    this.#onPhaseEnd?.('phase1');
    this.#preempt();
    this.#onPhaseEnd?.('phase2');
    this.#reclaim();
    this.#reclaimer.release(this.releasePolicy, options.nowMs);
    assert(this.actions.length <= this.inventory.size, 'a machine has at most one action');
    this.#onPhaseEnd?.('phase3');
  }

  /** The record of the last cycle, valid until the next; empty when records are off. */
  get record(): Uint8Array {
    return this.#record;
  }

  /** Every normalised row, in normalised order. */
  normalisedRows(): Row[] {
    const { ranks } = this.#ranks;
    const rows = [...this.#demands.values()].flatMap((demand) => demand.normalised);
    const passThrough = rows.filter((row) => !row.isFolded);
    const folded = rows.filter((row) => row.isFolded);
    passThrough.sort((a, b) => compareByPriority(ranks, a, b));
    folded.sort((a, b) => ranks[a.cluster]! - ranks[b.cluster]! || a.result.index - b.result.index);
    return [...passThrough, ...folded];
  }

  /** The rows that claims of this cluster name, by `claim − 1`. */
  claimants(cluster: number): readonly Row[] {
    return this.#demands.get(cluster)?.normalised ?? [];
  }

  readVector(handle: number): Resources {
    return this.#vectors.read(handle);
  }

  /** What neither drains nor victims cover of an unsatisfied need. */
  residueOf(row: Row): Resources {
    this.#unsatisfiedAt ??= new Map(this.#unsatisfied.map((each, at) => [each, at]));
    const at = this.#unsatisfiedAt.get(row);
    return at === undefined ? new Map() : this.#vectors.read(this.#residues[at]!);
  }

  #collectDirty(): Set<number> {
    const dirty = this.#dirty;
    for (const cluster of this.inventory.dirtyClusters) dirty.add(cluster);
    for (const cluster of this.needs.dirtyClusters) dirty.add(cluster);
    this.inventory.dirtyClusters.clear();
    this.needs.dirtyClusters.clear();
    this.parking.collectFlips(dirty);
    this.#folds.update(this.inventory.flippedClasses, dirty);
    this.inventory.flippedClasses.clear();
    return dirty;
  }

  #normalise(cluster: number): ClusterDemand | undefined {
    let demand = this.#demands.get(cluster);
    if (demand === undefined) {
      demand = new ClusterDemand(cluster);
      this.#demands.set(cluster, demand);
    }
    demand.normalise(this.#normaliseContext);
    if (demand.normalised.length === 0 && this.inventory.supplyOf(cluster)?.isEmpty !== false) {
      this.#forget(cluster);
      return undefined;
    }
    this.#stamp(demand);
    this.#credits.credit(demand);
    return demand;
  }

  /** Parked, held-off and braked needs; only gangs are ever parked. */
  #stamp(demand: ClusterDemand): void {
    const mayBeHeldBack = this.#heldOff.size > 0 || this.#braked.size > 0;
    if (!demand.hasGangs && !mayBeHeldBack && !demand.hasHeldBack) return;
    demand.hasHeldBack = false;
    for (const row of demand.normalised) {
      const { result, need } = row;
      result.isParked = isParkedAt(this.parking.ageOf(row));
      result.isHeldOff = false;
      result.brake = undefined;
      if (!mayBeHeldBack) continue;
      const key = heldOffKey(need.cluster, need.profile.fingerprint);
      result.isHeldOff = this.#heldOff.has(key);
      result.brake = this.#braked.get(key);
      if (result.isHeldOff || result.brake !== undefined) demand.hasHeldBack = true;
    }
  }

  /** Neither demand nor machines: nothing is remembered of the cluster but its name. */
  #forget(cluster: number): void {
    assert(this.needs.rowsOf(cluster).length === 0, 'a cluster with demand is forgotten', {
      cluster,
    });
    this.#demands.get(cluster)?.dispose(this.#normaliseContext);
    this.#demands.delete(cluster);
    this.#poolClusters.delete(cluster);
    this.#openClusters.delete(cluster);
    this.#excessClusters.delete(cluster);
  }

  /** Changed clusters, and those whose gangs depend on the shared pools. */
  #credit(dirty: ReadonlySet<number>): void {
    // Never emptied: a list that is emptied gives its memory away.
    const evaluated = this.#evaluated;
    let count = 0;
    this.#credits.begin(this.#decisions * 2);
    for (const cluster of dirty) {
      const demand = this.#normalise(cluster);
      if (demand !== undefined) evaluated[count++] = demand;
    }
    for (const cluster of this.#poolClusters) {
      if (dirty.has(cluster)) continue;
      const demand = this.#demands.get(cluster);
      assert(demand !== undefined, 'a cluster that depends on the pools has demand', { cluster });
      this.#credits.credit(demand);
      evaluated[count++] = demand;
    }
    this.#credits.finish();
    for (let at = 0; at < count; at++) {
      const { cluster, dependsOnPools, open, excess } = evaluated[at]!;
      mark(this.#poolClusters, cluster, dependsOnPools);
      mark(this.#openClusters, cluster, open.length > 0);
      mark(this.#excessClusters, cluster, excess.length > 0);
      // Also one that depended on the pools until now, and stands in no set any more.
      this.touchedClusters?.add(cluster);
    }
  }

  /**
   * Besides what was credited anew: clusters whose demand has gone, and those with open needs, the only ones that
   * acquisition and preemption look at.
   */
  #noteTouched(touched: Set<number>, dirty: ReadonlySet<number>): void {
    for (const cluster of dirty) touched.add(cluster);
    for (const cluster of this.#openClusters) touched.add(cluster);
  }

  #quotaByProvider(remaining: ReadonlyMap<string, number> | undefined): (number | undefined)[] {
    const { classes } = this.inventory;
    const quota: (number | undefined)[] = [];
    if (remaining === undefined) return quota;
    for (let provider = 0; provider < classes.providerCount; provider++) {
      const left = remaining.get(classes.providerName(provider));
      assert(!Number.isNaN(left ?? 0), 'a slice of quota is a number', { provider });
      quota.push(left);
    }
    return quota;
  }

  /** Of the classes whose type is braked; undefined when none is. */
  #typeAllowances(): ReadonlyMap<number, Allowance> | undefined {
    if (this.#brakedTypes.size === 0) return undefined;
    const { classes } = this.inventory;
    const byType = new Map<string, Allowance>();
    for (const [key, allowed] of this.#brakedTypes) byType.set(key, { allowed, left: allowed });
    const byClass = new Map<number, Allowance>();
    for (let klass = 0; klass < classes.length; klass++) {
      const shape = classes.shape(klass);
      if (shape === undefined) continue;
      const allowance = byType.get(machineTypeKey(shape.provider, shape.instanceType));
      if (allowance !== undefined) byClass.set(klass, allowance);
    }
    return byClass;
  }

  #acquire(quota: readonly (number | undefined)[]): void {
    this.#claimView.begin(quota, this.#typeAllowances());
    for (const brake of this.#braked.values()) brake.left = brake.allowed;
    const { ranks } = this.#ranks;
    const rows = this.#rows;
    rows.length = 0;
    for (const cluster of this.#inNameOrder(this.#openClusters)) {
      for (const row of (this.#demands.get(cluster) as ClusterDemand).open) rows.push(row);
    }
    this.#sorter.byPrecedence(rows);
    const pass = this.#decisions * 2 + 1;
    const recorder = this.hasRecords ? this.#recorder : undefined;
    recorder?.begin();
    this.#unsatisfied.length = 0;
    this.#unsatisfiedAt = undefined;
    let precedence = Number.POSITIVE_INFINITY;
    for (let at = 0; at < rows.length; at++) {
      if (at % ROWS_AHEAD === 0) fetchRows(rows, at, this.#vectors);
      const row = rows[at]!;
      assert(row.compiled.precedence <= precedence, 'a need is served before one that outranks it');
      precedence = row.compiled.precedence;
      const firstAction = this.actions.length;
      this.#acquirer.acquire(row, pass);
      recorder?.acquired(row, pass, firstAction);
      if (!row.result.isSatisfied) this.#unsatisfied.push(row);
    }
    this.#unsatisfied.sort((a, b) => compareByPriority(ranks, a, b));
  }

  #inNameOrder(clusters: ReadonlySet<number>): number[] {
    const { ranks } = this.#ranks;
    return [...clusters].sort((a, b) => ranks[a]! - ranks[b]!);
  }

  #preempt(): void {
    while (this.#residues.length < this.#unsatisfied.length) {
      this.#residues.push(this.#vectors.allocate());
    }
    const log = this.hasRecords ? this.#recorder.victimLog : undefined;
    this.#preemptor.run(this.#unsatisfied, this.#residues, log);
  }

  #reclaim(): void {
    for (const cluster of this.#inNameOrder(this.#excessClusters)) {
      const { excess } = this.#demands.get(cluster) as ClusterDemand;
      this.#reclaimer.reclaim(cluster, excess, this.#preemptor.picked);
    }
  }

  #updateLedgers(nowMs: number): void {
    this.parking.advance(this.#unsatisfied, this.#dirty);
    const unresolved: Unresolved[] = [];
    const short: ShortNeed[] = [];
    for (let at = 0; at < this.#unsatisfied.length; at++) {
      const row = this.#unsatisfied[at]!;
      const deficit = this.#vectors.read(this.#residues[at]!);
      const code = reasonCode(this.inventory, row, deficit.size === 0);
      assert(code !== 'satisfied', 'a need that is covered is no shortfall');
      short.push({ row, reasonCode: code });
      if (deficit.size > 0) unresolved.push({ row, deficit, reasonCode: code });
    }
    this.shortfalls.advance(unresolved);
    if (!this.hasRecords) {
      this.#record = noRecord;
      return;
    }
    const { high, low } = this.inventory.digest;
    const header = { cycle: this.#cycle, nowMs, digestHigh: high, digestLow: low };
    this.#record = this.#recorder.finish(header, short);
  }
}

const noRecord = new Uint8Array(0);

/**
 * Reads a little of the next rows, whose memory is scattered: the reads do not depend on each
 * other, so the processor waits for all of them at once instead of one after the other.
 */
function fetchRows(rows: readonly Row[], start: number, { values, stride }: VectorTable): void {
  let sum = 0;
  const end = Math.min(rows.length, start + ROWS_AHEAD);
  for (let at = start; at < end; at++) {
    const { result, group } = rows[at]!;
    sum += group + result.recordPlace + values[result.afterCredit * stride]!;
  }
  assert(sum >= 0, 'an open need with a negative residue');
}

function mark(set: Set<number>, member: number, isIn: boolean): void {
  if (isIn) set.add(member);
  else set.delete(member);
}

function symmetricDifference(a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> {
  const difference = new Set<string>();
  for (const key of a) if (!b.has(key)) difference.add(key);
  for (const key of b) if (!a.has(key)) difference.add(key);
  return difference;
}
