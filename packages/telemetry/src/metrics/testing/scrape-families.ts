// For tests: scrapes registries and reads the text back with the strict parser, so that every test
// of a metric also tests that Prometheus could have read it.

import assert from 'node:assert/strict';
import { realRuntime } from '@bigfleet/base/real';
import { type ParsedFamily, parseExposition } from '../exposition.ts';
import type { MetricRegistry } from '../registry.ts';
import { createScraper } from '../scrape.ts';

export type Families = ReadonlyMap<string, ParsedFamily>;

export async function scrapeFamilies(...registries: readonly MetricRegistry[]): Promise<Families> {
  const { timers } = realRuntime();
  return parseFamilies(await createScraper({ timers, registries }).scrape());
}

export function parseFamilies(text: string): Families {
  const parsed = parseExposition(text);
  assert.ok(parsed.ok, `unreadable exposition: ${JSON.stringify(parsed)}\n${text}`);
  return new Map(parsed.value.map((family) => [family.name, family]));
}

/** Label values in text order, comma-joined → value. */
export function valuesOf(families: Families, name: string): Record<string, number> {
  const family = families.get(name);
  assert.ok(family !== undefined, `no family ${name}`);
  return Object.fromEntries(
    family.samples.map((sample) => [[...sample.labels.values()].join(','), sample.value]),
  );
}
