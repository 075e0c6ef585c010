// Reads single values from a registry as a scrape would show them.

import type { MetricRegistry } from '@bigfleet/telemetry';

/** 0 for a series that does not exist, so that a test can also ask before the first sample. */
export async function metricValue(
  registry: MetricRegistry,
  name: string,
  labels = '',
): Promise<number> {
  const wanted = labels === '' ? name : `${name}{${labels}}`;
  for (const family of registry.snapshot().families) {
    if (!name.startsWith(family.name)) continue;
    let text = '';
    for await (const slice of family.format()) text += slice;
    for (const line of text.split('\n')) {
      if (line.startsWith(`${wanted} `)) return Number(line.slice(wanted.length + 1));
    }
  }
  return 0;
}

/** Whether the scrape has this series at all. */
export async function hasSeries(
  registry: MetricRegistry,
  name: string,
  labels: string,
): Promise<boolean> {
  for (const family of registry.snapshot().families) {
    if (family.name !== name) continue;
    for await (const slice of family.format()) {
      if (slice.includes(`${name}{${labels}} `)) return true;
    }
  }
  return false;
}
