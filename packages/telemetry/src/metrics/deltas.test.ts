// Proves that counting in a worker and adding up on main equals counting on main.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { B14 } from './buckets.ts';
import { bindDeltas, createDeltaBuffer, type DeltaInstruments, defineDeltas } from './deltas.ts';
import { createRegistry, type MetricRegistry } from './registry.ts';
import { createScraper } from './scrape.ts';
import { scrapeFamilies, valuesOf } from './testing/scrape-families.ts';
import { realRuntime } from '@bigfleet/base/real';

const declarations = {
  conflicts: { type: 'counter' },
  phase1: { type: 'histogram', bounds: B14 },
  rows: { type: 'gauge' },
} as const;
const layout = defineDeltas(declarations);

function targets(registry: MetricRegistry): DeltaInstruments<typeof declarations> {
  return {
    conflicts: registry.counter({ name: 'conflicts_total', help: 'c' }),
    phase1: registry.histogram({ name: 'phase1_seconds', help: 'p', bounds: B14 }),
    rows: registry.gauge({ name: 'rows', help: 'r' }),
  };
}

function text(registry: MetricRegistry): Promise<string> {
  return createScraper({ timers: realRuntime().timers, registries: [registry] }).scrape();
}

const operation = fc.oneof(
  fc.record({ do: fc.constant('inc' as const), by: fc.integer({ min: 0, max: 1_000 }) }),
  fc.record({ do: fc.constant('observe' as const), by: fc.integer({ min: 0, max: 1 << 24 }) }),
  fc.record({ do: fc.constant('set' as const), by: fc.integer() }),
  fc.record({ do: fc.constant('add' as const), by: fc.integer() }),
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
          if (what === 'inc') side.conflicts.inc(by);
          else if (what === 'observe') side.phase1.observe(seconds);
          else if (what === 'set') side.rows.set(by);
          else if (what === 'add') side.rows.add(by);
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
  buffer.instruments.conflicts.inc();
  target.applyDeltas(buffer.take());
  instruments.rows.set(9);
  target.applyDeltas(buffer.take());
  const families = await scrapeFamilies(registry);
  assert.deepEqual(valuesOf(families, 'conflicts_total'), { '': 1 });
  assert.deepEqual(valuesOf(families, 'rows'), { '': 9 });
});

test('deltas travel through shared memory', () => {
  const buffer = createDeltaBuffer(layout);
  buffer.instruments.conflicts.inc(3);
  const shared = new Float64Array(new SharedArrayBuffer(layout.length * 8));
  assert.equal(buffer.take(shared), shared);
  assert.equal(shared[0], 3);
});

test('arrays and targets of another layout are bugs', () => {
  const BUG = { name: 'AssertionError' };
  const registry = createRegistry();
  const target = bindDeltas(layout, targets(registry));
  const negative = createDeltaBuffer(layout).take();
  negative[0] = -1;
  assert.throws(() => target.applyDeltas(new Float64Array(3)), BUG);
  assert.throws(() => target.applyDeltas(negative), BUG);
  assert.throws(() => createDeltaBuffer(layout).take(new Float64Array(1)), BUG);
  const other = registry.histogram({ name: 'o', help: 'o', bounds: [1, 2] });
  assert.throws(() => bindDeltas(layout, { ...targets(createRegistry()), phase1: other }), BUG);
});
