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

export function createScraper(options: ScraperOptions): Scraper {
  return new SharedScraper(options);
}

/** Characters of text after which the event loop gets a turn: about 250 lines. */
const CHARS_PER_TURN = 20_000;

class SharedScraper implements Scraper {
  readonly contentType = CONTENT_TYPE;
  readonly #options: ScraperOptions;
  #running: Promise<string> | undefined;
  #next: Promise<string> | undefined;

  constructor(options: ScraperOptions) {
    this.#options = options;
  }

  scrape(): Promise<string> {
    if (this.#running === undefined) return this.#start();
    this.#next ??= this.#running.then(
      () => this.#startNext(),
      () => this.#startNext(),
    );
    return this.#next;
  }

  #startNext(): Promise<string> {
    this.#next = undefined;
    return this.#start();
  }

  #start(): Promise<string> {
    const running = render(this.#options).finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
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
