// Counters of the two processes, read from their /metrics: sums by name and labels, and the largest
// bucket of a histogram that holds anything.

import { BigFleetError, type Runtime, runWithDeadline } from '@bigfleet/base';
import { type ParsedFamily, type ParsedSample, parseExposition } from '@bigfleet/telemetry';

const SCRAPE_WITHIN_MS = 5_000;

export class Counters {
  readonly #families: ReadonlyMap<string, ParsedFamily>;

  constructor(families: readonly ParsedFamily[]) {
    this.#families = new Map(families.map((family) => [family.name, family]));
  }

  /** 0 when there is no such series. */
  sum(name: string): number {
    return this.#samples(name).reduce((total, { value }) => total + value, 0);
  }

  by(name: string, label: string): Record<string, number> {
    const totals = new Map<string, number>();
    for (const { labels, value } of this.#samples(name)) {
      const key = labels.get(label) ?? '';
      totals.set(key, (totals.get(key) ?? 0) + value);
    }
    return Object.fromEntries(totals);
  }

  /** The upper bound of the slowest sample's bucket; 0 without samples. */
  slowestAtMost(histogram: string): number {
    const buckets = this.#samples(histogram)
      .filter(({ name }) => name.endsWith('_bucket'))
      .map(({ labels, value }) => ({ bound: boundOf(labels.get('le') ?? ''), value }))
      .sort((a, b) => a.bound - b.bound);
    const total = buckets.at(-1)?.value ?? 0;
    if (total === 0) return 0;
    return buckets.find(({ value }) => value === total)?.bound ?? 0;
  }

  #samples(name: string): readonly ParsedSample[] {
    return this.#families.get(name)?.samples ?? [];
  }
}

export async function scrape(runtime: Runtime, url: string): Promise<Counters> {
  const text = await runWithDeadline(runtime, { ms: SCRAPE_WITHIN_MS }, async (signal) => {
    const response = await fetch(url, { signal });
    return await response.text();
  });
  const parsed = parseExposition(text);
  if (parsed.ok) return new Counters(parsed.value);
  const { line, reason } = parsed.error;
  throw new BigFleetError('internal', `${url} line ${line}: ${reason}`);
}

function boundOf(text: string): number {
  return text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text);
}
