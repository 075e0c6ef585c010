// Proves rail 2 as the host applies it: a repeated good roll-up ends a streak of suspicious ones, and
// roll-ups taken while the rail was off are what it measures against when it is switched on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { ClusterCapacityNeedsSchema, encodeInit, PenaltyBucket } from '@bigfleet/wire';
import type { RollupVerdict } from '../engine-host/answer.ts';
import type { EngineHost } from '../engine-host/engine-host.ts';
import { createInlineHost } from '../engine-host/inline-host.ts';

function inlineHost(): EngineHost {
  const { runtime } = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
  const timers = { ...runtime.timers, turn: () => Promise.resolve() };
  return createInlineHost({ ...runtime, timers });
}

function submit(host: EngineHost, rows: number, isGuarded = true): Promise<RollupVerdict> {
  const needs = Array.from({ length: rows }, (_, priority) => ({
    aggregateResources: { cpu: '1' },
    minUnit: { cpu: '1' },
    priority,
    interruptionPenaltyBucket: PenaltyBucket.PENALTY_BUCKET_ZERO,
    reclamationPenaltyBucket: PenaltyBucket.PENALTY_BUCKET_ZERO,
  }));
  const bytes = encodeInit(ClusterCapacityNeedsSchema, {
    clusterId: 'blue',
    timestampUnixNanos: 1n,
    needs,
  });
  return host.applyRollup({ cluster: 'blue', bytes, isGuarded });
}

async function kinds(host: EngineHost, rows: readonly number[]): Promise<string[]> {
  const verdicts: string[] = [];
  for (const count of rows) verdicts.push((await submit(host, count)).kind);
  return verdicts;
}

test('the third suspicious roll-up in a row is believed', async () => {
  const verdicts = await kinds(inlineHost(), [20, 0, 0, 0]);
  assert.deepEqual(verdicts, ['applied', 'held', 'held', 'applied']);
});

test('an unchanged good one in between starts the count again', async () => {
  const host = inlineHost();
  assert.deepEqual(await kinds(host, [20, 0, 0]), ['applied', 'held', 'held']);
  host.markReported('blue');
  assert.deepEqual(await kinds(host, [0, 0, 0]), ['held', 'held', 'applied']);
});

test('what was taken unguarded is the baseline later', async () => {
  const host = inlineHost();
  await submit(host, 100);
  assert.equal((await submit(host, 2, false)).kind, 'applied');
  assert.equal((await submit(host, 1)).kind, 'applied', 'two rows are below any guard');
  assert.equal((await submit(host, 50, false)).kind, 'applied');
  assert.equal((await submit(host, 1)).kind, 'held');
});
