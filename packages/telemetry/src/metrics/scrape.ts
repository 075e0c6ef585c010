// Turns registries into the text of `/metrics`. All numbers are taken in one synchronous step, the
// text is then written from that copy with a yield after every few hundred lines, so a scrape
// neither sees half a cycle nor delays a heartbeat. One scrape runs at a time; whoever asks
// meanwhile shares the next one, so a crowd of scrapers costs at most two renders and nobody gets
// numbers older than the request.

import { assert, type Timers } from '@bigfleet/base';
import { CONTENT_TYPE } from './prometheus.ts';
import type { FamilySnapshot, MetricRegistry } from './registry.ts';

export interface ScraperOptions {
  readonly timers: Timers;
  readonly registries: readonly Pick<MetricRegistry, 'snapshot'>[];
}

export interface Scraper {
  readonly contentType: string;
  scrape(): Promise<string>;
}

/** Characters of text after which the event loop gets a turn: about 250 lines. */
const CHARS_PER_TURN = 20_000;

export function createScraper(options: ScraperOptions): Scraper {
  let running: Promise<string> | undefined;
  let next: Promise<string> | undefined;
  const start = (): Promise<string> => {
    const rendering = render(options).finally(() => {
      if (running === rendering) running = undefined;
    });
    running = rendering;
    return rendering;
  };
  const startNext = (): Promise<string> => {
    next = undefined;
    return start();
  };
  return {
    contentType: CONTENT_TYPE,
    scrape() {
      if (running === undefined) return start();
      next ??= running.then(startNext, startNext);
      return next;
    },
  };
}

async function render({ timers, registries }: ScraperOptions): Promise<string> {
  const families = registries.flatMap((registry) => registry.snapshot().families);
  assertUniqueNames(families);
  const parts: string[] = [];
  let chars = 0;
  for (const family of families) {
    for await (const part of family.format()) {
      parts.push(part, '\n');
      chars += part.length;
      if (chars < CHARS_PER_TURN) continue;
      chars = 0;
      await timers.turn();
    }
  }
  return parts.join('');
}

function assertUniqueNames(families: readonly FamilySnapshot[]): void {
  const names = new Set(families.map((family) => family.name));
  assert(names.size === families.length, 'two registries of one scrape share a metric name');
}
