// Proves that acknowledgements that found no room are a counter that is there from the start and counts
// each of them once, however often somebody scrapes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRegistry } from '@bigfleet/telemetry';
import { createCoordClientMetrics } from './metrics.ts';

test('dropped acknowledgements are counted once', async () => {
  const registry = createRegistry();
  const { droppedAcks } = createCoordClientMetrics(registry);
  const scrape = async (): Promise<string[]> => {
    let text = '';
    for (const family of registry.snapshot().families) {
      for await (const slice of family.format()) text += slice;
    }
    return text.split('\n').filter((line) => line.includes('acks_dropped'));
  };
  const name = 'bigfleet_shard_coordinator_acks_dropped_total';
  assert.ok((await scrape()).includes(`${name} 0`), 'there from the start');
  assert.ok((await scrape()).includes(`# TYPE ${name} counter`));
  droppedAcks.inc(3);
  assert.ok((await scrape()).includes(`${name} 3`));
  assert.ok((await scrape()).includes(`${name} 3`), 'no two counts of one');
  droppedAcks.inc();
  assert.ok((await scrape()).includes(`${name} 4`));
});
