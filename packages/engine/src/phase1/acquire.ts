// Acquisition: needs with a residue take machines one step at a time, by full precedence. In
// that order nobody who comes later outranks anybody served before, so nothing is displaced and
// the result is bit-for-bit deterministic.

import { assert, compareText } from '@bigfleet/base';
import type { ActionBuffer } from '../actions/action-buffer.ts';
import type { CostOrder } from '../match/cost-order.ts';
import type { ConfinedSet } from '../match/domain-sets.ts';
import type { EligibleSet } from '../match/eligible-set.ts';
import { ActionKind } from '../model/action.ts';
import type { AcquisitionBlock, Row } from '../needs/row.ts';
import type { Inventory } from '../store/inventory.ts';
import { isFiniteFor } from './may-serve.ts';
import type { OpenDemand } from './open-demand.ts';
import { IDLE, type PoolView, SPECULATIVE } from './pool-view.ts';
import { creditedByValue } from './spread-counts.ts';
import type { Step, StepRule } from './step-rule.ts';

export class Acquirer {
  readonly #inventory: Inventory;
  readonly #open: OpenDemand;
  readonly #view: PoolView;
  readonly #steps: StepRule;
  readonly #actions: ActionBuffer;

  constructor(
    inventory: Inventory,
    open: OpenDemand,
    view: PoolView,
    steps: StepRule,
    actions: ActionBuffer,
  ) {
    this.#inventory = inventory;
    this.#open = open;
    this.#view = view;
    this.#steps = steps;
    this.#actions = actions;
  }

  /** Takes what the need may take; `pass` names the pass to its cost orders. */
  acquire(row: Row, pass: number): void {
    const { result, compiled } = row;
    assert(!result.isCoveredByCredit, 'a need that credit covers acquires nothing');
    const firstAction = this.#actions.length;
    result.bootstrapCount = 0;
    result.provisionCount = 0;
    result.blockedBy = undefined;
    this.#open.load(result.afterCredit, row.isAlwaysServed);
    if (!result.isParked && !result.isHeldOff) {
      if (compiled.profile.hardSpread !== undefined) this.#acquireSpread(row, pass);
      else if (compiled.sameKey === undefined) this.#acquireFrom(row, row.eligible, pass);
      else this.#acquireSame(row, pass);
    }
    this.#open.store(result.deficit);
    result.isSatisfied = this.#open.isCovered;
    const takenCount = result.bootstrapCount + result.provisionCount;
    assert(takenCount === this.#actions.length - firstAction, 'a need counts what it took');
  }

  #acquireFrom(row: Row, eligible: Orderable, pass: number): void {
    const order = eligible.order(row.compiled.interruptionBucket, pass);
    while (!this.#open.isCovered) {
      if (isBraked(row)) return;
      const step = this.#steps.next(order, this.#open.contributes, row.isAlwaysServed);
      if (step === undefined) {
        row.result.blockedBy = this.#unbuyable(order.klass);
        return;
      }
      this.#take(row, step);
    }
  }

  /** What keeps the rest from being bought: paused types, else spent slices, else nothing. */
  #unbuyable(classes: Iterable<number>): AcquisitionBlock | undefined {
    if (!this.#view.hasLimits) return undefined;
    let block: AcquisitionBlock | undefined;
    for (const klass of classes) {
      if (this.#view.remaining(SPECULATIVE, klass) === 0 || !this.#open.contributes(klass))
        continue;
      if (this.#view.hasQuota(klass)) return 'type';
      block = 'quota';
    }
    return block;
  }

  #take(row: Row, step: Step): void {
    const { state, klass } = step;
    const slot = this.#view.take(state, klass);
    this.#open.subtract(klass);
    const { brake } = row.result;
    assert(brake === undefined || brake.left > 0, 'a failing need takes more than it may try');
    if (brake !== undefined) brake.left -= 1;
    if (state === IDLE) row.result.bootstrapCount += 1;
    else row.result.provisionCount += 1;
    const kind = state === IDLE ? ActionKind.Bootstrap : ActionKind.Provision;
    this.#actions.push(kind, slot, row.cluster, row);
  }

  /** The recorded domain confines acquisition, even when it has nothing left. */
  #acquireSame(row: Row, pass: number): void {
    const domains = row.eligible.domains(row.compiled.sameKey as string);
    const { domain } = row.result;
    const confined =
      domain === undefined ? this.#fallbackDomain(row, pass) : domains.confinedTo(domain);
    if (confined !== undefined) this.#acquireFrom(row, confined, pass);
  }

  /**
   * Only for a need without any bucket in the credit pass. Prefers a domain that covers the
   * residue alone, then the cheapest head; else the one with most machines. Not recorded.
   */
  #fallbackDomain(row: Row, pass: number): ConfinedSet | undefined {
    let best: Offer | undefined;
    const { domains } = row.eligible.domains(row.compiled.sameKey as string);
    for (const domain of domains) {
      const classes = domain.members;
      const count = this.#countUsable(row, classes);
      if (count === 0) continue;
      const order = domain.order(row.compiled.interruptionBucket, pass);
      const head = this.#steps.next(order, this.#open.contributes);
      const headCost = head === undefined ? Number.POSITIVE_INFINITY : order.cost[head.entry]!;
      const offer = { domain, count, headCost, isCovering: this.#coversResidue(row, classes) };
      if (best === undefined || compareOffers(offer, best) < 0) best = offer;
    }
    return best?.domain;
  }

  #usable(row: Row, klass: number): number {
    if (!isFiniteFor(this.#inventory, row.compiled, klass) || !this.#open.contributes(klass))
      return 0;
    const mayBuy = this.#view.mayBuy(klass);
    return (
      this.#view.remaining(IDLE, klass) + (mayBuy ? this.#view.remaining(SPECULATIVE, klass) : 0)
    );
  }

  #countUsable(row: Row, classes: readonly number[]): number {
    let count = 0;
    for (const klass of classes) count += this.#usable(row, klass);
    return count;
  }

  #coversResidue(row: Row, classes: readonly number[]): boolean {
    const { values, stride } = this.#inventory.classes.allocatable;
    const total = new Float64Array(stride);
    for (const klass of classes) {
      const count = this.#usable(row, klass);
      for (let d = 0; d < stride; d++) {
        const sum = total[d]! + values[klass * stride + d]! * count;
        total[d] = Math.min(sum, Number.MAX_SAFE_INTEGER);
      }
    }
    return this.#open.isCoveredBy(total);
  }

  /**
   * DoNotSchedule: no topology value runs ahead of the least served one by more than maxSkew.
   * Counts start from what is credited and run on over both pools; a value stays in the count
   * when its machines are used up.
   */
  #acquireSpread(row: Row, pass: number): void {
    const spread = row.compiled.profile.hardSpread;
    if (spread === undefined || this.#open.isCovered) return;
    const domains = row.eligible.domains(spread.topologyKey);
    const counts = creditedByValue(this.#inventory, row, spread.topologyKey);
    const order = (value: string): CostOrder | undefined =>
      domains.confinedTo(value)?.order(row.compiled.interruptionBucket, pass);
    for (const { value, members } of domains.domains) {
      if (!counts.has(value) && this.#countUsable(row, members) > 0) counts.set(value, 0);
    }
    const skew = Math.max(1, spread.maxSkew);
    while (!this.#open.isCovered) {
      if (isBraked(row)) return;
      const best = this.#bestHead(counts, skew, order, row.isAlwaysServed);
      if (best === undefined) {
        this.#explainSpread(
          row,
          domains.domains.flatMap(({ members }) => members),
        );
        return;
      }
      const step = this.#steps.next(
        order(best) as CostOrder,
        this.#open.contributes,
        row.isAlwaysServed,
      ) as Step;
      this.#take(row, step);
      counts.set(best, (counts.get(best) ?? 0) + 1);
    }
  }

  #explainSpread(row: Row, classes: readonly number[]): void {
    const isSkew = this.#countUsable(row, classes) > 0;
    const finite = classes.filter((klass) => isFiniteFor(this.#inventory, row.compiled, klass));
    row.result.blockedBy = isSkew ? 'spread' : this.#unbuyable(finite);
  }

  /** Idle heads before Speculative ones, then effective cost, then value. */
  #bestHead(
    counts: ReadonlyMap<string, number>,
    skew: number,
    order: (value: string) => CostOrder | undefined,
    isAlwaysServed: boolean,
  ): string | undefined {
    let least = Number.POSITIVE_INFINITY;
    for (const count of counts.values()) least = Math.min(least, count);
    let best: { value: string; state: number; cost: number } | undefined;
    for (const [value, count] of counts) {
      if (count > least + skew - 1) continue;
      const costs = order(value);
      // A value of credited machines only.
      if (costs === undefined) continue;
      const step = this.#steps.next(costs, this.#open.contributes, isAlwaysServed);
      if (step === undefined) continue;
      const head = { value, state: step.state, cost: costs.cost[step.entry]! };
      if (best === undefined || compareHeads(head, best) < 0) best = head;
    }
    return best?.value;
  }
}

/** Its Configures fail, and it has tried what it may in this cycle. */
function isBraked({ result }: Row): boolean {
  if (result.brake === undefined || result.brake.left > 0) return false;
  result.blockedBy = 'brake';
  return true;
}

type Orderable = EligibleSet | ConfinedSet;

interface Offer {
  readonly domain: ConfinedSet;
  readonly count: number;
  readonly headCost: number;
  readonly isCovering: boolean;
}

function compareOffers(a: Offer, b: Offer): number {
  if (a.isCovering !== b.isCovering) return a.isCovering ? -1 : 1;
  const byCount = a.isCovering ? 0 : b.count - a.count;
  return byCount || a.headCost - b.headCost || compareText(a.domain.value, b.domain.value);
}

interface SpreadHead {
  readonly value: string;
  readonly state: number;
  readonly cost: number;
}

function compareHeads(a: SpreadHead, b: SpreadHead): number {
  return a.state - b.state || a.cost - b.cost || compareText(a.value, b.value);
}
