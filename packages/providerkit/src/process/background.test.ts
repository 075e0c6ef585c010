// Proves that loops beside the calls keep their interval, never overlap, survive failures, and end
// with the process.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime, sleep } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { captureSink, createLogger } from '@bigfleet/telemetry';
import { feedLoop, priceLoop, type PriceRefreshOptions } from './background.ts';

test('prices: every interval, published after each refresh, failures counted', async () => {
  const time = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
  const { runtime } = time;
  const log = captureSink();
  const ending = new AbortController();
  const events: string[] = [];
  let failNext = false;
  const options: PriceRefreshOptions = {
    runtime,
    refresh: async (signal) => {
      events.push(`refresh ${runtime.clock.monotonicMs()}`);
      await sleep(runtime, 100, signal);
      if (failNext) throw new Error('price list gone');
    },
    metrics: { refreshed: (outcome) => events.push(outcome) },
    logger: createLogger({ clock: runtime.clock, sink: log }),
    signal: ending.signal,
  };
  const loop = priceLoop(options, 1_000, async () => {
    events.push('published');
    failNext = true;
  });
  await time.runFor(2_500);
  ending.abort();
  await loop;
  assert.deepEqual(events, [
    'refresh 1000',
    'success',
    'published',
    'refresh 2100',
    'error',
    'published',
  ]);
  assert.match(log.lines.join('\n'), /price refresh failed.*price list gone/);
});

test('a refresh that hangs is given up after its bound', async () => {
  const time = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
  const { runtime } = time;
  const ending = new AbortController();
  const outcomes: string[] = [];
  const options: PriceRefreshOptions = {
    runtime,
    refresh: () => new Promise(() => {}),
    metrics: { refreshed: (outcome) => outcomes.push(outcome) },
    logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
    signal: ending.signal,
  };
  const loop = priceLoop(options, 1_000, async () => {});
  await time.runFor(91_001);
  assert.deepEqual(outcomes, ['error']);
  ending.abort();
  await loop;
});

test('an event feed is started again after a failure, and ends with the signal', async () => {
  const time = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
  const { runtime } = time;
  const ending = new AbortController();
  const starts: number[] = [];
  const feed = async (signal: AbortSignal): Promise<void> => {
    starts.push(runtime.clock.monotonicMs());
    await sleep(runtime, 1_000, signal);
    throw new Error('queue gone');
  };
  const logger = createLogger({ clock: runtime.clock, sink: captureSink() });
  const loop = feedLoop(runtime, feed, { logger, signal: ending.signal });
  await time.runFor(13_000);
  assert.deepEqual(starts, [0, 6_000, 12_000]);
  ending.abort();
  await loop;
});
