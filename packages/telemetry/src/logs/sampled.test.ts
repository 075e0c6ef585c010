// Proves that a storm is cut to its rate and that the number of lines left out is always told.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { captureSink, createLogger } from './logger.ts';
import { createSampledMessage } from './sampled.ts';
import { ACTION_FAILED_PER_SECOND, actionFailed } from './stable-messages.ts';
import { parseLogfmt } from './testing/parse-logfmt.ts';

function setUp() {
  const virtual = createVirtualRuntime({ seed: 'sampled', drain: drainMicrotasks });
  const sink = captureSink();
  const logger = createLogger({ clock: virtual.runtime.clock, sink });
  const sampled = createSampledMessage({
    runtime: virtual.runtime,
    logger,
    message: actionFailed,
    perSecond: ACTION_FAILED_PER_SECOND,
  });
  const fail = (machine: string): void =>
    sampled.log({ kind: 'Bootstrap', machine, cluster: 'c', err: 'e' });
  const records = (): Record<string, string>[] => sink.lines.map(parseLogfmt);
  return { virtual, sampled, fail, records };
}

test('up to the rate, everything passes and nothing is armed', async () => {
  const { virtual, fail, records } = setUp();
  for (let at = 0; at < 100; at++) fail(`m${at}`);
  assert.equal(records().length, 100);
  assert.equal(virtual.pendingTimers, 0);
  await virtual.runFor(1_000);
  for (let at = 0; at < 100; at++) fail(`m${at}`);
  assert.equal(records().length, 200);
  assert.ok(records().every((record) => !('suppressed' in record)));
});

test('the end of a burst tells its count without another event', async () => {
  const { virtual, fail, records } = setUp();
  for (let at = 0; at < 5_000; at++) fail(`m${at}`);
  assert.equal(records().length, 100);
  await virtual.runFor(1_000);
  assert.equal(records().length, 101);
  const last = records()[100];
  assert.equal(last?.['msg'], 'action failed');
  assert.equal(last?.['level'], 'WARN');
  assert.equal(last?.['suppressed'], '4900');
  assert.equal(last?.['machine'], 'm4999');
  assert.equal(virtual.pendingTimers, 0);
});

test('over a long storm, passed and suppressed add up to what happened', async () => {
  const { virtual, sampled, fail, records } = setUp();
  let happened = 0;
  for (let step = 0; step < 500; step++) {
    for (let at = 0; at < 7; at++) fail(`m${happened++}`);
    await virtual.runFor(10);
  }
  sampled.close();
  const told = records().reduce((sum, record) => sum + Number(record['suppressed'] ?? 1), 0);
  assert.equal(told, happened);
  assert.ok(records().length <= 6 * 101, `${records().length} lines in five seconds`);
  assert.equal(virtual.pendingTimers, 0);
});
