// Proves that counting in a worker and adding up on main equals counting on main.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { B14 } from './buckets.ts';
import { bindDeltas, createDeltaBuffer, type DeltaTargets } from './deltas.ts';
import { createRegistry, type MetricRegistry } from './registry.ts';
import { createScraper } from './scrape.ts';
import { scrapeFamilies, valuesOf } from './testing/scrape-families.ts';
import { realRuntime } from '@bigfleet/base/real';

const layout = { phase1: B14, rows: undefined };

function targets(registry: MetricRegistry): DeltaTargets<typeof layout> {
  return {
    phase1: registry.histogram({ name: 'phase1_seconds', help: 'p', bounds: B14 }),
    rows: registry.gauge({ name: 'rows', help: 'r' }),
  };
}

function text(registry: MetricRegistry): Promise<string> {
  return createScraper({ timers: realRuntime().timers, registries: [registry] }).scrape();
}

const operation = fc.oneof(
  fc.record({ do: fc.constant('observe' as const), by: fc.integer({ min: 0, max: 1 << 24 }) }),
  fc.record({ do: fc.constant('set' as const), by: fc.integer() }),
  fc.record({ do: fc.constant('ship' as const), by: fc.constant(0) }),
);

test('shipped deltas give the text that direct counting gives', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 60 }), async (operations) => {
      const direct = createRegistry();
      const shipped = createRegistry();
      const there = targets(direct);
      const buffer = createDeltaBuffer(layout);
      const target = bindDeltas(layout, targets(shipped));
      for (const { do: what, by } of operations) {
        // Sums of these are exact, so adding in another order cannot differ.
        const seconds = by / 1_024;
        for (const side of [there, buffer.instruments]) {
          if (what === 'observe') side.phase1.observe(seconds);
          else if (what === 'set') side.rows.set(by);
        }
        if (what === 'ship') target.applyDeltas(buffer.take());
      }
      target.applyDeltas(buffer.take());
      assert.equal(await text(shipped), await text(direct));
    }),
    { numRuns: 60 },
  );
});

test('taking clears, and an unset gauge changes nothing', async () => {
  const registry = createRegistry();
  const instruments = targets(registry);
  const buffer = createDeltaBuffer(layout);
  const target = bindDeltas(layout, instruments);
  buffer.instruments.phase1.observe(1);
  target.applyDeltas(buffer.take());
  instruments.rows.set(9);
  target.applyDeltas(buffer.take());
  const families = await scrapeFamilies(registry);
  assert.equal(families.get('phase1_seconds')?.samples.at(-1)?.value, 1);
  assert.deepEqual(valuesOf(families, 'rows'), { '': 9 });
});

test('arrays and targets of another layout are bugs', () => {
  const BUG = { name: 'AssertionError' };
  const registry = createRegistry();
  const target = bindDeltas(layout, targets(registry));
  const negative = createDeltaBuffer(layout).take();
  negative[0] = -1;
  assert.throws(() => target.applyDeltas(new Float64Array(3)), BUG);
  assert.throws(() => target.applyDeltas(negative), BUG);
  const other = registry.histogram({ name: 'o', help: 'o', bounds: [1, 2] });
  assert.throws(() => bindDeltas(layout, { ...targets(createRegistry()), phase1: other }), BUG);
});
