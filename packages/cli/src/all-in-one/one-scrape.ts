// The metrics of both halves as one scrape. What describes the process, such as its memory, is counted
// by both and told once.

import type { MetricRegistry } from '@bigfleet/telemetry';

type Scraped = Pick<MetricRegistry, 'snapshot'>;

/** What `first` has too is taken from `first`. */
export function oneScrape(first: Scraped, second: Scraped): Scraped {
  return {
    snapshot: () => {
      const { families } = first.snapshot();
      const names = new Set(families.map(({ name }) => name));
      const rest = second.snapshot().families.filter(({ name }) => !names.has(name));
      return { families: [...families, ...rest] };
    },
  };
}
