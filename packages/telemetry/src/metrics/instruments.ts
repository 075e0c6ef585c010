// What instrumented code holds: one series, resolved once, written without allocation. The same
// interfaces are backed by a registry on the main thread and by a delta buffer in a worker, so the
// code that counts does not know on which thread it runs.

import type { BucketBounds } from './buckets.ts';
import type { LabelDeclarations, LabelPairs, LabelValues } from './labels.ts';

export interface Counter {
  /** `by` is ≥ 0 and 1 when absent. */
  inc(by?: number): void;
}

export interface Gauge {
  /** Finite; durations in seconds, sizes in bytes, instants in Unix seconds. */
  set(value: number): void;
  add(by: number): void;
}

export interface Histogram {
  readonly bounds: BucketBounds;
  /** Finite and ≥ 0, in the unit of the bounds (seconds for every duration). */
  observe(value: number): void;
  /**
   * Adds another histogram's counts: one number per bound, then the +Inf bucket, then the sum,
   * from `offset` on. Not cumulative.
   */
  merge(source: Float64Array, offset: number): void;
}

/** The series of one name. Resolve series at start or when their subject appears, never per event. */
export interface Family<L extends LabelDeclarations, S> {
  readonly name: string;
  /**
   * A value outside a closed set is a bug. A new value of an open label gets its whole row of closed
   * combinations at 0; beyond the bound it is counted as overflow and a series that goes nowhere is
   * returned.
   */
  labels(values: LabelValues<L>): S;
  /** Every series of a family without open label, last declared label fastest: index by enum. */
  all(): readonly S[];
  /** Ends the series of one open value; handles still held write nowhere. False if unknown. */
  remove(openValue: string): boolean;
  removeAll(): void;
}

export type CounterFamily<L extends LabelDeclarations> = Family<L, Counter>;
export type GaugeFamily<L extends LabelDeclarations> = Family<L, Gauge>;
export type HistogramFamily<L extends LabelDeclarations> = Family<L, Histogram>;

export type InstrumentType = 'counter' | 'gauge' | 'histogram';

export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  /**
   * Which series exist from the start, at 0; all of them when absent. Any other appears with its
   * first value other than 0 and then stays. `() => false` is for instants: an expiry at 0 alarms.
   */
  readonly initial?: (labels: LabelPairs) => boolean;
}

export interface LabelledDefinition<L extends LabelDeclarations> extends MetricDefinition {
  /** `kind: ['Bootstrap', 'Provision']` is closed, `cluster: { max: 5000 }` is open. */
  readonly labels: L;
}

export interface HistogramDefinition extends MetricDefinition {
  readonly bounds: BucketBounds;
}

export type LabelledHistogramDefinition<L extends LabelDeclarations> = LabelledDefinition<L> &
  HistogramDefinition;
