// A set of metric families. A process has one; the pod controller and each provider may have their
// own, and the simulator gives every component one, so there is no global. Definitions are made at
// start; a second definition of a name, a counter without `_total` or a name that collides with a
// histogram's `_bucket`, `_sum` or `_count` is a bug and asserts.

import { assert } from '@bigfleet/base';
import { assertBounds, type BucketBounds } from './buckets.ts';
import {
  type FamilySource,
  OVERFLOW_REASONS,
  type OverflowReason,
  SeriesFamily,
} from './family.ts';
import type {
  Counter,
  CounterFamily,
  Family,
  Gauge,
  GaugeFamily,
  Histogram,
  HistogramDefinition,
  HistogramFamily,
  InstrumentType,
  LabelledDefinition,
  LabelledHistogramDefinition,
  MetricDefinition,
} from './instruments.ts';
import { type LabelDeclarations, LabelSpace, type OpenLabel } from './labels.ts';
import { PrometheusText } from './prometheus.ts';
import {
  CounterSeries,
  GaugeSeries,
  HistogramSeries,
  histogramWidth,
  type Series,
} from './series.ts';
import { SeriesStore } from './series-store.ts';

export interface MetricRegistry {
  counter(definition: MetricDefinition): Counter;
  counter<const L extends LabelDeclarations>(definition: LabelledDefinition<L>): CounterFamily<L>;
  gauge(definition: MetricDefinition): Gauge;
  gauge<const L extends LabelDeclarations>(definition: LabelledDefinition<L>): GaugeFamily<L>;
  histogram(definition: HistogramDefinition): Histogram;
  histogram<const L extends LabelDeclarations>(
    definition: LabelledHistogramDefinition<L>,
  ): HistogramFamily<L>;
  /** Runs before every snapshot, synchronously: for values that are read, not counted. */
  onCollect(collect: () => void): void;
  /** All numbers as of now. Taken in one synchronous step, so sums across families agree. */
  snapshot(): RegistrySnapshot;
}

export interface RegistrySnapshot {
  readonly families: readonly FamilySnapshot[];
}

export interface FamilySnapshot {
  readonly name: string;
  /** Header and samples as exposition text, in slices small enough to yield between. */
  format(): AsyncGenerator<string>;
}

export const LABEL_OVERFLOW_TOTAL = 'bigfleet_telemetry_label_overflow_total';

const NAME = /^[a-z_][a-z0-9_]*$/;
const HISTOGRAM_SUFFIXES = ['_bucket', '_sum', '_count'] as const;
const MAX_FAMILIES = 1_024;

export function createRegistry(): MetricRegistry {
  return new Registry();
}

type AnyDefinition = MetricDefinition & {
  readonly labels?: LabelDeclarations;
  readonly bounds?: BucketBounds;
};

class Registry implements MetricRegistry {
  readonly #text = new PrometheusText();
  readonly #families: FamilySource[] = [];
  readonly #sampleNames = new Set<string>();
  readonly #collectors: (() => void)[] = [];
  #overflow: CounterFamily<OverflowLabels> | undefined;

  readonly counter = this.#definer(
    'counter',
    (store, index) => new CounterSeries(store, index),
  ) as MetricRegistry['counter'];

  readonly gauge = this.#definer(
    'gauge',
    (store, index) => new GaugeSeries(store, index),
  ) as MetricRegistry['gauge'];

  readonly histogram = this.#definer(
    'histogram',
    (store, index, bounds) => new HistogramSeries(store, index, bounds),
  ) as MetricRegistry['histogram'];

  onCollect(collect: () => void): void {
    this.#collectors.push(collect);
  }

  snapshot(): RegistrySnapshot {
    for (const collect of this.#collectors) collect();
    const taken = this.#families.map((family) => ({ family, series: family.store.snapshot() }));
    const families = taken.map(({ family, series }) => ({
      name: family.name,
      format: () => this.#text.format(family, series),
    }));
    return { families };
  }

  #definer<S extends Series>(
    type: InstrumentType,
    series: (store: SeriesStore, index: number, bounds: BucketBounds) => S,
  ): (definition: AnyDefinition) => S | Family<LabelDeclarations, S> {
    return (definition) => {
      const bounds = definition.bounds ?? [];
      if (type === 'histogram') assertBounds(bounds);
      const family = this.#family(definition, this.#define(type, definition), (store, index) =>
        series(store, index, bounds),
      );
      return definition.labels === undefined ? family.labels({}) : family;
    };
  }

  #define(type: InstrumentType, definition: AnyDefinition): SeriesStore {
    const { name, help, bounds } = definition;
    this.#claimNames(type, name);
    assert(this.#families.length < MAX_FAMILIES, 'too many metric families', { name });
    assert(help.length > 0, 'a metric needs a help text', { name });
    const space = new LabelSpace(definition.labels ?? {});
    const store = new SeriesStore({
      space,
      width: bounds === undefined ? 1 : histogramWidth(bounds),
      initial: definition.initial ?? (() => true),
    });
    const family = { name, help, type, labelNames: space.names, bounds, store };
    this.#text.register(family);
    this.#families.push(family);
    return store;
  }

  #claimNames(type: InstrumentType, name: string): void {
    assert(NAME.test(name), 'metric name not allowed', { name });
    assert((type === 'counter') === name.endsWith('_total'), '_total marks counters, only them', {
      name,
    });
    const suffixes = type === 'histogram' ? HISTOGRAM_SUFFIXES : [];
    for (const sampleName of [name, ...suffixes.map((suffix) => name + suffix)]) {
      assert(!this.#sampleNames.has(sampleName), 'metric name is taken', { name, sampleName });
      this.#sampleNames.add(sampleName);
    }
  }

  #family<S extends Series>(
    definition: AnyDefinition,
    store: SeriesStore,
    series: (store: SeriesStore, index: number) => S,
  ): SeriesFamily<LabelDeclarations, S> {
    const { name } = definition;
    const isCounted = store.space.open !== undefined && name !== LABEL_OVERFLOW_TOTAL;
    const overflow = isCounted ? this.#overflowFamily() : undefined;
    const counterOf = (reason: OverflowReason): Counter | undefined =>
      overflow?.labels({ family: name, reason });
    // At 0 from the start, all reasons of the row.
    counterOf('full');
    const onOverflow = (reason: OverflowReason): void => counterOf(reason)?.inc();
    return new SeriesFamily({ name, store, series, onOverflow });
  }

  /** Exists as soon as a family has an open label, at 0 for each such family. */
  #overflowFamily(): CounterFamily<OverflowLabels> {
    this.#overflow ??= this.counter({
      name: LABEL_OVERFLOW_TOTAL,
      help: 'Label values of an open set that were not published: set full, or value unusable.',
      labels: { family: { max: MAX_FAMILIES }, reason: OVERFLOW_REASONS },
    });
    return this.#overflow;
  }
}

type OverflowLabels = { readonly family: OpenLabel; readonly reason: typeof OVERFLOW_REASONS };
