// The quantity grammar over the spellings that roll-ups carry. It runs at ingest, never inside a
// cycle: parsing per cycle once turned a sub-second cycle into 100 s, so its cost is worth knowing.

import { createRandom, parseQuantity, type Random } from '@bigfleet/base';
import { type BenchEntry, defineBench, keep } from '../harness/index.ts';

const QUANTITY_COUNT = 10_000;
const SUFFIXES = ['', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'Ti', 'e3'] as const;

function drawQuantity(random: Random): string {
  const suffix = SUFFIXES[random.below(SUFFIXES.length)] ?? '';
  const fraction = random.below(4) === 0 ? `.${random.below(1_000)}` : '';
  return `${random.below(4_096)}${fraction}${suffix}`;
}

/** Refusals are counted, not skipped: a bench of refused texts would time the wrong path. */
function parseAll(texts: readonly string[]): number {
  let parsedCount = 0;
  for (const text of texts) {
    const parsed = parseQuantity(text);
    keep(parsed);
    if (parsed.ok) parsedCount++;
  }
  return parsedCount;
}

const entries: readonly BenchEntry[] = [
  defineBench<readonly string[]>({
    name: 'base/quantity-parse',
    shape: { quantities: QUANTITY_COUNT, parsed: QUANTITY_COUNT, suffixes: SUFFIXES.length },
    warmup: 50,
    iterations: 500,
    opsPerIteration: QUANTITY_COUNT,
    setup({ seed }) {
      const random = createRandom(BigInt(seed)).stream('quantities');
      return Array.from({ length: QUANTITY_COUNT }, () => drawQuantity(random));
    },
    observe(texts) {
      const seen = new Set(texts.map((text) => text.replace(/^[0-9.]+/, '')));
      return { quantities: texts.length, parsed: parseAll(texts), suffixes: seen.size };
    },
    iteration(texts) {
      keep(parseAll(texts));
    },
  }),
];

export default entries;
