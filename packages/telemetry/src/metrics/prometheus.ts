// The one file that knows prom-client. It keeps the registry of names and writes the exposition
// text; the numbers stay in our typed arrays and are handed over per family as a snapshot. A family
// formats in slices of bounded size, so that a scrape of thousands of series never holds the event
// loop: prom-client's own `metrics()` formats everything in one go.

import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { assert } from '@bigfleet/base';
import type { FamilySource } from './family.ts';
import type { LabelPairs } from './labels.ts';
import type { SeriesSnapshot } from './series-store.ts';

export const CONTENT_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE;

/** prom-client flattens and escapes `sharedLabels` once per object, and ours live with the series. */
interface Sample {
  readonly metricName: string;
  readonly labels: LabelPairs;
  readonly sharedLabels: LabelPairs;
  readonly value: number;
}

const NO_LABELS: LabelPairs = {};
const LINES_PER_SLICE = 500;
const HEADER_LINES = 2;

export class PrometheusText {
  readonly #registry = new Registry();
  readonly #pending = new Map<string, readonly Sample[]>();

  /** Refuses a duplicate or malformed name and an empty help text. */
  register(family: FamilySource): void {
    assert(!this.#pending.has(family.name), 'metric registered twice', { name: family.name });
    this.#pending.set(family.name, []);
    const { name, help, type } = family;
    // prom-client asks for this method first, and only for it; the shape is that of its own.
    Object.assign(this.#metricOf(family), {
      getForPromString: () =>
        Promise.resolve({ name, help, type, values: this.#pending.get(name) }),
    });
  }

  /** `# HELP`, `# TYPE` and the samples, in slices without a trailing newline each. */
  async *format(family: FamilySource, snapshot: SeriesSnapshot): AsyncGenerator<string> {
    const linesPerSeries = family.bounds === undefined ? 1 : family.bounds.length + 3;
    const seriesPerSlice = Math.max(1, Math.floor(LINES_PER_SLICE / linesPerSeries));
    const count = snapshot.pairs.length;
    for (let from = 0; from === 0 || from < count; from += seriesPerSlice) {
      const to = Math.min(count, from + seriesPerSlice);
      this.#pending.set(family.name, samplesOf(family, snapshot, from, to));
      const text = await this.#registry.getSingleMetricAsString(family.name);
      yield from === 0 ? text : withoutHeader(text);
    }
    this.#pending.set(family.name, []);
  }

  #metricOf(family: FamilySource): object {
    const config = {
      name: family.name,
      help: family.help,
      labelNames: family.labelNames,
      registers: [this.#registry],
    };
    if (family.type === 'counter') return new Counter(config);
    if (family.type === 'gauge') return new Gauge(config);
    return new Histogram(config);
  }
}

function samplesOf(
  { name, bounds }: FamilySource,
  { pairs, values }: SeriesSnapshot,
  from: number,
  to: number,
): Sample[] {
  const samples: Sample[] = [];
  const bucketName = `${name}_bucket`;
  for (let at = from; at < to; at++) {
    const sharedLabels = pairs[at];
    assert(sharedLabels !== undefined, 'snapshot and slice agree');
    const push = (metricName: string, value: number, labels = NO_LABELS): void => {
      samples.push({ metricName, labels, sharedLabels, value });
    };
    if (bounds === undefined) {
      push(name, values[at] ?? Number.NaN);
      continue;
    }
    const start = at * (bounds.length + 2);
    let cumulative = 0;
    for (let bucket = 0; bucket <= bounds.length; bucket++) {
      cumulative += values[start + bucket] ?? Number.NaN;
      push(bucketName, cumulative, { le: String(bounds[bucket] ?? '+Inf') });
    }
    push(`${name}_sum`, values[start + bounds.length + 1] ?? Number.NaN);
    push(`${name}_count`, cumulative);
  }
  return samples;
}

/** Every slice starts with the same two header lines; newlines inside them are escaped. */
function withoutHeader(text: string): string {
  let at = 0;
  for (let line = 0; line < HEADER_LINES; line++) at = text.indexOf('\n', at) + 1;
  return text.slice(at);
}
