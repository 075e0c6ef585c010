// The changes of one steady cycle: 100 machine transitions and 100 changed rows, seeded, in a
// window of a tenth of the clusters. A machine that is lost drains, becomes idle and is replaced
// (four transitions), a row that grows by a machine shrinks back two rounds later (four more), so
// the fleet stays what it is over any number of rounds. What the engine makes of a loss differs
// from shape to shape, so the number of losses is steered until a round has 100 transitions.
//
// What follows from a change lands up to four rounds later in the same cluster. So the window
// moves every fourth round, by a fifth, and new changes leave that fifth free: all changes of a
// round stay inside one tenth. How far that held is counted, not assumed.

import type { Random } from '@bigfleet/base';
import { type Need, State } from '@bigfleet/engine';
import { applyActions, type BindingObserver } from './execute.ts';
import type { Fleet } from './fleet.ts';

export interface ChurnPlan {
  /**
   * A lost machine is idle again before the next cycle. For fleets without spare machines, where
   * it is its own replacement and a drain would set clusters competing all over the shard.
   */
  readonly drainsAtOnce?: boolean;
  /** Rows that ask for one machine more, per round; as many shrink back. Default 2, with `grow`. */
  readonly growths?: number;
  /** The row asking for one machine more; undefined for a row that cannot. */
  readonly grow?: (need: Need) => Need | undefined;
  /** Any other change. Default: one quantum more or less of the first resource. */
  readonly change?: (need: Need, random: Random) => Need;
}

export const CHANGED_ROWS = 100;
export const TRANSITIONS = 100;
/** A loss that is replaced costs four transitions; what is steered away from. */
const FIRST_LOSSES = 24;
/** Losses less per transition too many so far: small, because effects follow rounds later. */
const LOSSES_PER_EXCESS = 0.05;
const ROUNDS_PER_WINDOW = 4;
const SHRINK_AFTER_ROUNDS = 2;
const ROUND_MS = 1_000;

export interface ChurnCounts {
  readonly rounds: number;
  readonly transitions: number;
  readonly transitionsMax: number;
  readonly rows: number;
  readonly actions: number;
  readonly touchedClustersMax: number;
  readonly applyMs: readonly number[];
}

/** Which clusters a round changes, of so many in a circle: a tenth less the fifth that is left free. */
export function churnWindow(
  clusterCount: number,
  round: number,
): { readonly start: number; readonly width: number } {
  const tenth = Math.max(1, Math.floor(clusterCount / 10));
  const shift = Math.max(1, Math.floor(tenth / 5));
  const start = Math.floor(round / ROUNDS_PER_WINDOW) * shift;
  return { start, width: Math.max(1, tenth - shift) };
}

export class Churn {
  readonly #fleet: Fleet;
  readonly #random: Random;
  readonly #plan: Required<ChurnPlan>;
  /** Cluster indexes in a seeded order: the window walks over it. */
  readonly #order: readonly number[];
  readonly #bound: BoundMachines;
  readonly #draining: number[] = [];
  readonly #grown: Grown[] = [];
  readonly #touched = new Set<number>();
  readonly #applyMs: number[] = [];
  #round = 0;
  #transitions = 0;
  #transitionsMax = 0;
  #rows = 0;
  #actions = 0;
  #touchedMax = 0;

  constructor(fleet: Fleet, random: Random, plan: ChurnPlan) {
    this.#fleet = fleet;
    this.#random = random;
    this.#plan = {
      drainsAtOnce: plan.drainsAtOnce ?? false,
      growths: plan.grow === undefined ? 0 : (plan.growths ?? 2),
      grow: plan.grow ?? (() => undefined),
      change: plan.change ?? nudge,
    };
    const { inventory } = fleet.engine;
    this.#order = shuffled(
      fleet.clusters.map((name) => inventory.clusterIndex(name)),
      random.stream('clusters'),
    );
    this.#bound = new BoundMachines(fleet, this.#touched);
  }

  /** Carries out the last cycle, then changes machines and rows. */
  apply(): void {
    const startMs = performance.now();
    const fleet = this.#fleet;
    fleet.nowMs += ROUND_MS;
    this.#touched.clear();
    this.#actions += fleet.engine.actions.length;
    let transitions = applyActions(fleet, this.#bound);
    transitions += this.#finishDrains();
    const window = this.#window();
    transitions += this.#lose(window);
    if (this.#plan.drainsAtOnce) transitions += this.#finishDrains();
    this.#rows += this.#changeRows(window);
    this.#round += 1;
    this.#transitions += transitions;
    this.#transitionsMax = Math.max(this.#transitionsMax, transitions);
    this.#touchedMax = Math.max(this.#touchedMax, this.#touched.size);
    this.#applyMs.push(performance.now() - startMs);
  }

  get counts(): ChurnCounts {
    return {
      rounds: this.#round,
      transitions: this.#transitions,
      transitionsMax: this.#transitionsMax,
      rows: this.#rows,
      actions: this.#actions,
      touchedClustersMax: this.#touchedMax,
      applyMs: this.#applyMs,
    };
  }

  #window(): number[] {
    const count = this.#order.length;
    const { start, width } = churnWindow(count, this.#round);
    return Array.from({ length: width }, (_, at) => this.#order[(start + at) % count]!);
  }

  #finishDrains(): number {
    const { inventory } = this.#fleet.engine;
    for (const slot of this.#draining) {
      this.#touched.add(inventory.columns.cluster[slot]!);
      inventory.move(slot, State.Idle, {}, this.#fleet.nowMs);
    }
    return this.#draining.splice(0).length;
  }

  #lose(window: readonly number[]): number {
    const { inventory } = this.#fleet.engine;
    let lost = 0;
    const excess = this.#transitions - this.#round * TRANSITIONS;
    const wanted = Math.round(FIRST_LOSSES - excess * LOSSES_PER_EXCESS);
    for (let at = 0; at < wanted; at++) {
      const cluster = window[this.#random.below(window.length)]!;
      const slot = this.#bound.draw(cluster, this.#random);
      if (slot === undefined) continue;
      inventory.move(slot, State.Draining, {}, this.#fleet.nowMs);
      this.#touched.add(cluster);
      this.#draining.push(slot);
      lost += 1;
    }
    return lost;
  }

  #changeRows(window: readonly number[]): number {
    const edits = new Edits(this.#fleet);
    let left = CHANGED_ROWS - this.#shrink(edits) - this.#grow(edits, window);
    // A draw may fall on a row of this round again; the bound ends a window without rows.
    for (let tries = 0; left > 0 && tries < CHANGED_ROWS * 20; tries++) {
      const picked = edits.pick(window[this.#random.below(window.length)]!, this.#random);
      if (picked === undefined) continue;
      edits.replace(picked, this.#plan.change(picked.need, this.#random));
      left -= 1;
    }
    edits.commit(this.#touched);
    return CHANGED_ROWS - left;
  }

  #shrink(edits: Edits): number {
    let count = 0;
    let oldest = this.#grown[0];
    while (oldest !== undefined && this.#round - oldest.round >= SHRINK_AFTER_ROUNDS) {
      this.#grown.shift();
      const picked = edits.find(oldest.cluster, oldest.key);
      if (picked !== undefined) {
        edits.replace(picked, oldest.before);
        count += 1;
      }
      oldest = this.#grown[0];
    }
    return count;
  }

  #grow(edits: Edits, window: readonly number[]): number {
    let count = 0;
    for (let tries = 0; count < this.#plan.growths && tries < 1_000; tries++) {
      const cluster = window[this.#random.below(window.length)]!;
      const picked = edits.pick(cluster, this.#random);
      if (picked === undefined || this.#grown.some(({ key }) => key === keyOf(picked.need)))
        continue;
      const bigger = this.#plan.grow(picked.need);
      if (bigger === undefined) continue;
      const key = keyOf(picked.need);
      this.#grown.push({ round: this.#round, cluster, key, before: picked.need });
      edits.replace(picked, bigger);
      count += 1;
    }
    return count;
  }
}

interface Grown {
  readonly round: number;
  readonly cluster: number;
  readonly key: string;
  readonly before: Need;
}

interface Picked {
  readonly cluster: number;
  readonly at: number;
  readonly need: Need;
}

/** New roll-ups of a round: whole clusters, in which no row changes twice. */
class Edits {
  readonly #fleet: Fleet;
  readonly #rollups = new Map<number, { readonly needs: Need[]; readonly changed: Set<number> }>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  pick(cluster: number, random: Random): Picked | undefined {
    const { needs, changed } = this.#rollup(cluster);
    if (needs.length === 0) return undefined;
    const at = random.below(needs.length);
    return changed.has(at) ? undefined : { cluster, at, need: needs[at] as Need };
  }

  find(cluster: number, key: string): Picked | undefined {
    const { needs } = this.#rollup(cluster);
    const at = needs.findIndex((need) => keyOf(need) === key);
    return at < 0 ? undefined : { cluster, at, need: needs[at] as Need };
  }

  replace({ cluster, at }: Picked, need: Need): void {
    const { needs, changed } = this.#rollup(cluster);
    needs[at] = need;
    changed.add(at);
  }

  commit(touched: Set<number>): void {
    const { engine } = this.#fleet;
    for (const [cluster, { needs, changed }] of this.#rollups) {
      if (changed.size === 0) continue;
      touched.add(cluster);
      engine.applyRollup(engine.inventory.clusters.text(cluster), needs);
    }
  }

  #rollup(cluster: number): { readonly needs: Need[]; readonly changed: Set<number> } {
    let rollup = this.#rollups.get(cluster);
    if (rollup === undefined) {
      const rows = this.#fleet.engine.needs.rowsOf(cluster);
      rollup = { needs: rows.map(({ need }) => need), changed: new Set() };
      this.#rollups.set(cluster, rollup);
    }
    return rollup;
  }
}

/** Configured machines by cluster, so that a loss is one draw. */
class BoundMachines implements BindingObserver {
  readonly #byCluster = new Map<number, number[]>();
  readonly #touched: Set<number>;

  constructor({ engine }: Fleet, touched: Set<number>) {
    this.#touched = touched;
    const { columns, slotCount } = engine.inventory;
    for (let slot = 0; slot < slotCount; slot++) {
      if (columns.state[slot] === State.Configured) this.#add(slot, columns.cluster[slot]!);
    }
  }

  bound(slot: number, cluster: number): void {
    this.#touched.add(cluster);
    this.#add(slot, cluster);
  }

  unbound(slot: number, cluster: number): void {
    this.#touched.add(cluster);
    const slots = this.#byCluster.get(cluster) ?? [];
    removeAt(slots, slots.indexOf(slot));
  }

  draw(cluster: number, random: Random): number | undefined {
    const slots = this.#byCluster.get(cluster) ?? [];
    if (slots.length === 0) return undefined;
    const at = random.below(slots.length);
    const slot = slots[at]!;
    removeAt(slots, at);
    return slot;
  }

  #add(slot: number, cluster: number): void {
    const slots = this.#byCluster.get(cluster);
    if (slots === undefined) this.#byCluster.set(cluster, [slot]);
    else slots.push(slot);
  }
}

function removeAt(list: number[], at: number): void {
  if (at < 0) throw new Error('a machine left that was never bound');
  const last = list.pop() as number;
  if (at < list.length) list[at] = last;
}

function keyOf({ cluster, profile, group }: Need): string {
  return `${cluster}|${group}|${profile.fingerprint}`;
}

/**
 * The same demand, one quantum less or more. Even values go down and odd ones come back up, so a
 * need of exactly n machines stays one.
 */
export function nudge(need: Need): Need {
  const [name, value] = [...need.aggregate][0] ?? ['cpu', 0];
  const aggregate = new Map(need.aggregate).set(name, value % 2 === 0 ? value - 1 : value + 1);
  return { ...need, aggregate };
}

function shuffled(list: readonly number[], random: Random): number[] {
  const copy = [...list];
  for (let at = copy.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [copy[at], copy[other]] = [copy[other]!, copy[at]!];
  }
  return copy;
}
