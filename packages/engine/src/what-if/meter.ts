// What a fleet costs and how many machines it holds, over time: counted at every change of a machine and
// integrated between changes, so that a figure does not depend on how often cycles run. Money is summed in
// whole micro-dollars per hour times milliseconds, because sums of floating-point dollars drift.
//
// A machine is paid for while it has a host: Idle, Configuring, Configured, Draining, Deleting, and Failed
// with a host. A Creating one has none yet.

import {
  type MicrosPerHour,
  dollarsFromMicrosPerHour,
  microsPerHourFromDollars,
} from '@bigfleet/base';
import { CapacityType, type CapacityTypeCode } from '../model/capacity-type.ts';
import { State, STATE_COUNT } from '../model/state.ts';
import type { Inventory } from '../store/inventory.ts';

const MS_PER_HOUR = 3_600_000;
const CAPACITY_TYPES: readonly CapacityTypeCode[] = [1, 2, 3, 4];
/** Probabilities as whole billionths, so that adding and taking away leaves nothing behind. */
const BILLION = 1_000_000_000;
const MAX_MICROS = 1e12;

/** What is counted: from `startMs` to `endMs`, in points of equal width; the last may be cut. */
export interface Span {
  readonly startMs: number;
  readonly endMs: number;
  readonly widthMs: number;
  readonly pointCount: number;
}

export function spanOf(startMs: number, endMs: number, maxPoints: number): Span {
  const durationMs = endMs - startMs;
  const widthMs = Math.max(1, Math.ceil(durationMs / maxPoints));
  return { startMs, endMs, widthMs, pointCount: Math.max(1, Math.ceil(durationMs / widthMs)) };
}

/** Nothing is counted. */
export const noSpan: Span = spanOf(0, 0, 1);

export interface Money {
  readonly dollars: number;
  readonly averagePerHour: number;
  /** Median of the points of the series. */
  readonly medianPerHour: number;
  readonly highestPerHour: number;
}

export class Meter {
  readonly #inventory: Inventory;
  readonly #span: Span;
  #atMs: number;
  readonly #stateCounts = new Int32Array(STATE_COUNT);
  readonly #microsByCapacity = new Float64Array(CAPACITY_TYPES.length + 1);
  readonly #paidByCapacity = new Int32Array(CAPACITY_TYPES.length + 1);
  readonly #elasticHeld = new Map<string, number>();
  readonly #configured = new Map<number, number>();
  #billionthsPerHour = 0;
  readonly #stateMs = new Float64Array(STATE_COUNT);
  readonly #paidMs = new Float64Array(CAPACITY_TYPES.length + 1);
  /** Micro-dollars per hour times milliseconds. */
  readonly #spent: bigint[] = CAPACITY_TYPES.map(() => 0n);
  #billionthMs = 0n;
  #highestMicros = 0;
  readonly #pointMicros: Float64Array;
  readonly #pointBound: Float64Array;

  constructor(inventory: Inventory, span: Span) {
    this.#inventory = inventory;
    this.#span = span;
    this.#atMs = span.startMs;
    this.#pointMicros = new Float64Array(span.pointCount);
    this.#pointBound = new Float64Array(span.pointCount);
  }

  /** Which point an instant belongs to. */
  pointAt(atMs: number): number {
    const at = Math.floor((atMs - this.#span.startMs) / this.#span.widthMs);
    return Math.min(this.#span.pointCount - 1, Math.max(0, at));
  }

  /** The machine in the slot begins (1) or ceases (−1) to be what it is. */
  count(slot: number, by: 1 | -1): void {
    const { columns, classes } = this.#inventory;
    const state = columns.state[slot]!;
    const klass = columns.klass[slot]!;
    const capacityType = classes.capacityType[klass]!;
    this.#stateCounts[state] = this.#stateCounts[state]! + by;
    if (columns.hostProvider[slot] !== 0) {
      this.#paidByCapacity[capacityType] = this.#paidByCapacity[capacityType]! + by;
      this.#microsByCapacity[capacityType] =
        this.#microsByCapacity[capacityType]! + by * microsOf(classes.price[klass]!);
    }
    if (state === State.Configured) {
      const cluster = columns.cluster[slot]!;
      this.#configured.set(cluster, (this.#configured.get(cluster) ?? 0) + by);
      this.#billionthsPerHour += by * Math.round(classes.probability[klass]! * BILLION);
    }
    if (state !== State.Speculative && isElastic(capacityType)) {
      const provider = classes.providerName(classes.provider[klass]!);
      this.#elasticHeld.set(provider, (this.#elasticHeld.get(provider) ?? 0) + by);
    }
  }

  /** Elastic machines that are not Speculative: what a slice of quota is measured against. */
  elasticHeld(provider: string): number {
    return this.#elasticHeld.get(provider) ?? 0;
  }

  configuredCount(cluster: number): number {
    return this.#configured.get(cluster) ?? 0;
  }

  /** Everything stays as it is until this instant. */
  advance(toMs: number): void {
    const endMs = Math.min(toMs, this.#span.endMs);
    const ms = endMs - this.#atMs;
    if (ms <= 0) return;
    let micros = 0;
    for (const type of CAPACITY_TYPES) {
      const typeMicros = this.#microsByCapacity[type]!;
      micros += typeMicros;
      this.#spent[type - 1] = this.#spent[type - 1]! + BigInt(typeMicros) * BigInt(ms);
      this.#paidMs[type] = this.#paidMs[type]! + this.#paidByCapacity[type]! * ms;
    }
    this.#billionthMs += BigInt(this.#billionthsPerHour) * BigInt(ms);
    this.#highestMicros = Math.max(this.#highestMicros, micros);
    for (let state = 0; state < STATE_COUNT; state++) {
      this.#stateMs[state] = this.#stateMs[state]! + this.#stateCounts[state]! * ms;
    }
    this.#fillPoints(endMs, micros);
  }

  #fillPoints(endMs: number, micros: number): void {
    const bound = this.#boundCount;
    while (this.#atMs < endMs) {
      const point = this.pointAt(this.#atMs);
      const pointEndMs = this.#span.startMs + (point + 1) * this.#span.widthMs;
      const untilMs = Math.min(endMs, pointEndMs);
      const ms = untilMs - this.#atMs;
      this.#pointMicros[point] = this.#pointMicros[point]! + micros * ms;
      this.#pointBound[point] = this.#pointBound[point]! + bound * ms;
      this.#atMs = untilMs;
    }
  }

  get #boundCount(): number {
    const counts = this.#stateCounts;
    return counts[State.Configuring]! + counts[State.Configured]! + counts[State.Draining]!;
  }

  get #durationMs(): number {
    return this.#span.endMs - this.#span.startMs;
  }

  money(): Money {
    const perHour = [...this.#pointMicros.keys()].map((point) => this.pointDollarsPerHour(point));
    const sorted = perHour.sort((a, b) => a - b);
    const dollars = dollarsOf(this.#spent.reduce((sum, spent) => sum + spent, 0n));
    return {
      dollars,
      averagePerHour: this.#perHour(dollars),
      medianPerHour: sorted[Math.floor((sorted.length - 1) / 2)] ?? 0,
      highestPerHour: dollarsOfMicros(this.#highestMicros),
    };
  }

  dollarsOf(type: CapacityTypeCode): number {
    return dollarsOf(this.#spent[type - 1]!);
  }

  /** Of machines that are paid for. */
  paidHours(type: CapacityTypeCode): number {
    return rounded(this.#paidMs[type]! / MS_PER_HOUR);
  }

  machineHours(state: number): number {
    return rounded(this.#stateMs[state]! / MS_PER_HOUR);
  }

  /** Of Configured machines, by what providers say of each: an expectation, no events. */
  expectedInterruptions(): number {
    return rounded(Number(this.#billionthMs / BigInt(MS_PER_HOUR)) / BILLION);
  }

  averageBoundCount(): number {
    const ms = this.#pointBound.reduce((sum, bound) => sum + bound, 0);
    return this.#durationMs === 0 ? 0 : rounded(ms / this.#durationMs);
  }

  pointDollarsPerHour(point: number): number {
    const ms = this.#pointMs(point);
    return ms === 0 ? 0 : dollarsOfMicros(Math.round(this.#pointMicros[point]! / ms));
  }

  pointBoundCount(point: number): number {
    const ms = this.#pointMs(point);
    return ms === 0 ? 0 : rounded(this.#pointBound[point]! / ms);
  }

  /** The last point may be shorter than the others. */
  #pointMs(point: number): number {
    const startMs = point * this.#span.widthMs;
    return Math.max(0, Math.min(this.#span.widthMs, this.#durationMs - startMs));
  }

  #perHour(dollars: number): number {
    const ms = this.#durationMs;
    return ms === 0 ? 0 : roundedToMicros((dollars * MS_PER_HOUR) / ms);
  }
}

export function isElastic(capacityType: number): boolean {
  return capacityType === CapacityType.OnDemand || capacityType === CapacityType.Spot;
}

/** Three digits behind the point: what a reader of counts and hours can use. */
export function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

function roundedToMicros(dollars: number): number {
  return Math.round(dollars * 1_000_000) / 1_000_000;
}

/** Sums of machines stay whole numbers: a price beyond a million dollars per hour counts as that. */
function microsOf(pricePerHour: number): number {
  const micros = microsPerHourFromDollars(pricePerHour);
  return micros.ok ? Math.min(micros.value, MAX_MICROS) : MAX_MICROS;
}

function dollarsOf(spent: bigint): number {
  return dollarsOfMicros(Number(spent / BigInt(MS_PER_HOUR)));
}

/** Only the unit is borrowed: a sum over hours is no price per hour. */
function dollarsOfMicros(micros: number): number {
  return dollarsFromMicrosPerHour(micros as MicrosPerHour);
}
