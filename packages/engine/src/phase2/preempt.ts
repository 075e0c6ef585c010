// Phase 2: needs that Phase 1 left open may drain machines of strictly lower effective
// priority. Nothing is moved; a freed machine is acquired by a later cycle's Phase 1. Machines
// that drain already are counted first, or every cycle of a ten-minute drain would take fresh
// victims.
//
// Cost: classes of each open need; machines only of classes that hold one below its priority.

import {
  assert,
  bucketUpperBoundDollars,
  type CandidateReason,
  type PenaltyBucket,
} from '@bigfleet/base';
import type { ActionBuffer } from '../actions/action-buffer.ts';
import { ActionKind, drainGraceSeconds } from '../model/action.ts';
import { State } from '../model/state.ts';
import { victimScore } from '../model/victim-score.ts';
import type { Row } from '../needs/row.ts';
import { isFiniteFor } from '../phase1/may-serve.ts';
import type { OpenDemand } from '../phase1/open-demand.ts';
import { addAcquired, addValue, creditedByValue, keepsSkew } from '../phase1/spread-counts.ts';
import type { VectorTable } from '../store/dimensions.ts';
import type { Inventory } from '../store/inventory.ts';

/** What became of a machine that was scored. */
export type RankedOutcome = 'chosen' | 'no_contribution' | 'spread_skew' | 'victim_score_lower';

/** Why a machine of lower priority was not even scored. */
export type ExcludedOutcome = 'victim_taken' | 'victim_own_cluster';

/**
 * Listens to Phase 2 while it looks at bound machines: told of every machine at the line that decides
 * about it, so that a record never has to guess afterwards. Absent when records are off.
 */
export interface VictimLog {
  /** Phase 2 begins to look for victims of one need. */
  begin(): void;
  excluded(slot: number, outcome: ExcludedOutcome): void;
  /** Best victims first. */
  ranked(slot: number, score: number, outcome: RankedOutcome): void;
  /** The search for this need is over. `awaited`: running drains and who waits for them. */
  end(row: Row, awaited: ReadonlyMap<number, Row>): void;
}

export class Preemptor {
  readonly #inventory: Inventory;
  readonly #open: OpenDemand;
  readonly #vectors: VectorTable;
  readonly #actions: ActionBuffer;
  readonly #picked = new Set<number>();
  /** Machines that drain already, by the need that waits for each. */
  readonly #awaited = new Map<number, Row>();
  /** Of needs with DoNotSchedule: machines by topology value, picked ones included. */
  readonly #counts = new Map<Row, Map<string, number>>();

  constructor(inventory: Inventory, open: OpenDemand, vectors: VectorTable, actions: ActionBuffer) {
    this.#inventory = inventory;
    this.#open = open;
    this.#vectors = vectors;
    this.#actions = actions;
  }

  /** Victims of this cycle: Phase 3 leaves them alone. */
  get picked(): ReadonlySet<number> {
    return this.#picked;
  }

  /**
   * `rows` are the unsatisfied needs by priority desc. What neither drains nor victims cover is
   * written to `residues`, one vector handle per row. `log` hears of every machine looked at.
   */
  run(rows: readonly Row[], residues: readonly number[], log: VictimLog | undefined): void {
    assert(residues.length >= rows.length, 'each unsatisfied need has a residue');
    this.#picked.clear();
    this.#awaited.clear();
    const preemptors: number[] = [];
    let highest = Number.POSITIVE_INFINITY;
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at]!;
      assert(!row.result.isSatisfied, 'a satisfied need preempts nothing');
      assert(row.compiled.priority <= highest, 'a higher need chooses its victims first');
      highest = row.compiled.priority;
      row.result.awaitingDrainCount = 0;
      row.result.victimCount = 0;
      row.result.victimList = 0;
      this.#copy(row.result.deficit, residues[at]!);
      row.result.preemptionCode = refusalOf(row);
      if (row.result.preemptionCode === undefined) preemptors.push(at);
    }
    this.#counts.clear();
    for (const at of preemptors) this.#creditDraining(rows[at]!, residues[at]!);
    for (const at of preemptors) {
      this.#pickVictims(rows[at]!, residues[at]!, log);
    }
  }

  #copy(from: number, to: number): void {
    const { values, stride } = this.#vectors;
    values.copyWithin(to * stride, from * stride, (from + 1) * stride);
  }

  /** Ids ascending, until covered, each once. */
  #creditDraining(row: Row, residue: number): void {
    const draining = this.#drainingFor(row);
    if (draining.length === 0) return;
    const { klass } = this.#inventory.columns;
    this.#open.load(residue, row.isAlwaysServed);
    for (const slot of draining) {
      if (this.#open.isCovered) break;
      if (!this.#open.contributes(klass[slot]!) || !this.#keepsSkew(row, slot)) continue;
      this.#awaited.set(slot, row);
      row.result.awaitingDrainCount += 1;
      this.#open.subtract(klass[slot]!);
    }
    this.#open.store(residue);
  }

  #drainingFor(row: Row): number[] {
    const { drainingPools, columns } = this.#inventory;
    if (this.#inventory.drainingCount === 0) return [];
    const slots: number[] = [];
    for (const klass of row.eligible.set.members) {
      const pool = drainingPools[klass];
      if (pool === undefined || pool.size === 0 || !this.#isOfUse(row, klass)) continue;
      for (let chunk = 0; chunk < pool.chunkCount; chunk++) {
        const length = pool.lengthAt(chunk);
        for (let at = 0; at < length; at++) {
          const slot = pool.chunkAt(chunk)[at]!;
          if (!this.#awaited.has(slot)) slots.push(slot);
        }
      }
    }
    return slots.sort((a, b) => columns.rank[a]! - columns.rank[b]!);
  }

  /** Finite cost and, for a gang, inside its domain: else the drained machine could not be used. */
  #isOfUse(row: Row, klass: number): boolean {
    if (!isFiniteFor(this.#inventory, row.compiled, klass)) return false;
    const { sameKey } = row.compiled;
    return (
      sameKey === undefined || this.#inventory.classes.valueOf(klass, sameKey) === row.result.domain
    );
  }

  /**
   * A machine that DoNotSchedule would forbid once it is free must not be drained for this need,
   * or the preemption repeats for ever. Counts it in when it may.
   */
  #keepsSkew(row: Row, slot: number): boolean {
    const spread = row.compiled.profile.hardSpread;
    if (spread === undefined) return true;
    const { topologyKey, maxSkew } = spread;
    let counts = this.#counts.get(row);
    if (counts === undefined) {
      counts = creditedByValue(this.#inventory, row, topologyKey);
      addAcquired(this.#inventory, counts, row, this.#actions, topologyKey);
      this.#counts.set(row, counts);
    }
    const { classes, columns } = this.#inventory;
    const value = classes.valueOf(columns.klass[slot]!, topologyKey);
    if (!keepsSkew(counts, value, maxSkew)) return false;
    addValue(this.#inventory, counts, slot, topologyKey);
    return true;
  }

  #pickVictims(row: Row, residue: number, log: VictimLog | undefined): void {
    const { columns } = this.#inventory;
    this.#open.load(residue, row.isAlwaysServed);
    // Running drains cover it: no victim is needed.
    row.result.preemptionCode = 'victim_score_lower';
    if (this.#open.isCovered) return;
    row.result.preemptionCode = 'victim_priority_not_lower';
    log?.begin();
    const victims = this.#victimsFor(row, log);
    let next = 0;
    for (; next < victims.length && !this.#open.isCovered && mayTry(row); next++) {
      const { slot, score } = victims[next] as ScoredVictim;
      const klass = columns.klass[slot]!;
      if (!this.#open.contributes(klass)) {
        log?.ranked(slot, score, 'no_contribution');
        if (row.result.victimCount === 0) row.result.preemptionCode = 'no_contribution';
        continue;
      }
      if (!this.#keepsSkew(row, slot)) {
        log?.ranked(slot, score, 'spread_skew');
        if (row.result.victimCount === 0) row.result.preemptionCode = 'spread_skew';
        continue;
      }
      log?.ranked(slot, score, 'chosen');
      row.result.preemptionCode = 'chosen';
      assert(!this.#picked.has(slot), 'a victim is picked once', { slot });
      this.#picked.add(slot);
      row.result.victimCount += 1;
      if (row.result.brake !== undefined) row.result.brake.left -= 1;
      this.#open.subtract(klass);
      this.#emit(row, slot);
    }
    this.#open.store(residue);
    if (log === undefined) return;
    for (; next < victims.length; next++) {
      const { slot, score, isUseful } = victims[next] as ScoredVictim;
      log.ranked(slot, score, isUseful ? 'victim_score_lower' : 'no_contribution');
    }
    log.end(row, this.#awaited);
  }

  #emit(row: Row, slot: number): void {
    const { columns } = this.#inventory;
    const { priority } = row.compiled;
    assert(columns.state[slot] === State.Configured, 'a victim is bound and serves', { slot });
    assert(columns.withheld[slot] === 0, 'a victim is ours to act on', { slot });
    assert(columns.effectivePriority[slot]! < priority, 'a victim ranks below its preemptor');
    const at = this.#actions.push(ActionKind.Preempt, slot, columns.cluster[slot]!, row);
    const gap = priority - columns.effectivePriority[slot]!;
    this.#actions.graceSeconds[at] = drainGraceSeconds(gap);
    this.#actions.preemptorPriority[at] = priority;
  }

  /** Best victims first, ties by id. */
  #victimsFor(row: Row, log: VictimLog | undefined): ScoredVictim[] {
    const { columns, victims } = this.#inventory;
    const { priority } = row.compiled;
    const found: ScoredVictim[] = [];
    for (const klass of row.eligible.set.members) {
      if (!victims.hasBelow(klass, priority) || !this.#isOfUse(row, klass)) continue;
      const isUseful = this.#open.contributes(klass);
      victims.forEachBelow(klass, priority, (slot) => {
        if (this.#picked.has(slot)) {
          log?.excluded(slot, 'victim_taken');
          row.result.preemptionCode = 'victim_taken';
          return;
        }
        if (this.#isOwnSupply(row, slot)) {
          log?.excluded(slot, 'victim_own_cluster');
          row.result.preemptionCode = 'victim_own_cluster';
          return;
        }
        found.push({
          slot,
          score: this.#score(priority, slot),
          isUseful,
          rank: columns.rank[slot]!,
        });
      });
    }
    return found.sort((a, b) => b.score - a.score || a.rank - b.rank);
  }

  /** Claimed by a need of the same cluster: a need must not drain its own cluster's supply. */
  #isOwnSupply(row: Row, slot: number): boolean {
    if (this.#inventory.columns.cluster[slot] !== row.cluster) return false;
    return this.#inventory.supplyOf(row.cluster)?.isClaimed(slot) === true;
  }

  #score(preemptorPriority: number, slot: number): number {
    const { columns } = this.#inventory;
    return victimScore(preemptorPriority, {
      priority: columns.effectivePriority[slot]!,
      interruptionPenaltyDollars: dollars(columns.interruptionBucket[slot]),
      reclamationPenaltyDollars: dollars(columns.reclamationBucket[slot]),
    });
  }
}

interface ScoredVictim {
  readonly slot: number;
  readonly score: number;
  /** Reduced something when the search began. */
  readonly isUseful: boolean;
  readonly rank: number;
}

function dollars(bucket: number | undefined): number {
  return bucketUpperBoundDollars(bucket as PenaltyBucket);
}

/** A need whose Configures fail has no more machines drained for it than it may try. */
function mayTry({ result }: Row): boolean {
  return result.brake === undefined || result.brake.left > 0;
}

/** Parked and refused needs could not use a freed machine; a gang without a domain neither. */
function refusalOf(row: Row): CandidateReason | undefined {
  const { result, compiled } = row;
  if (result.isParked) return 'preemptor_parked';
  if (compiled.sameKey !== undefined && result.domain === undefined) return 'preemptor_no_domain';
  return result.isHeldOff || !mayTry(row) ? 'preemptor_parked' : undefined;
}
