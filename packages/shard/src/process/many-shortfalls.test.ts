// Proves that the numbers about unmet demand come from the whole ledger (shard §12.1): with more
// shortfalls than a report carries, the classes and the ages each add up to the total, and the line
// of the cycle counts them all.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PRIORITY_CLASS_LABELS } from '@bigfleet/base';
import { Operator, PenaltyBucket } from '@bigfleet/wire';
import { AGE_BUCKETS } from '../ledgers/shortfalls.ts';
import type { TestOperator } from '../session/testing/test-operator.ts';
import { ShardStage } from './testing/shard-stage.ts';

/** What a report of shard §12.1 carries at most. */
const REPORTED = 100;
/** Of each class; together far more than a report. */
const COUNTS = { critical: 70, service: 60, batch: 50 };
const TOTAL = COUNTS.critical + COUNTS.service + COUNTS.batch;
const PRIORITY = { critical: 1_000_000, service: 1_000, batch: 0 };

interface Wanted {
  readonly pool: string;
  readonly priority: number;
}

const WANTED: readonly Wanted[] = (['batch', 'critical', 'service'] as const).flatMap((name) =>
  Array.from({ length: COUNTS[name] }, (_, at) => ({
    pool: `${name}-${at}`,
    priority: PRIORITY[name],
  })),
);

function report(operator: TestOperator, cluster: string, wanted: readonly Wanted[]): void {
  const needs = wanted.map(({ pool, priority }) => ({
    requirements: [{ key: 'pool', operator: Operator.IN, values: [pool] }],
    aggregateResources: { cpu: '4' },
    minUnit: { cpu: '1' },
    priority,
    interruptionPenaltyBucket: PenaltyBucket.PENALTY_BUCKET_ZERO,
    reclamationPenaltyBucket: PenaltyBucket.PENALTY_BUCKET_ZERO,
  }));
  const value = { clusterId: cluster, timestampUnixNanos: 1n, needs };
  operator.send({ case: 'rollup', value });
}

async function sumOver(
  stage: ShardStage,
  name: string,
  label: string,
  values: readonly string[],
): Promise<number> {
  let sum = 0;
  for (const value of values) sum += await stage.metric(name, `${label}="${value}"`);
  return sum;
}

async function assertWhole(stage: ShardStage, total: number): Promise<void> {
  assert.equal(await stage.metric('shortfalls'), total);
  const classes = ['shortfalls_by_priority', 'priority_class', PRIORITY_CLASS_LABELS] as const;
  assert.equal(await sumOver(stage, ...classes), total, 'classes');
  assert.equal(await sumOver(stage, 'shortfalls_aged', 'bucket', AGE_BUCKETS), total, 'ages');
}

test('classes and ages add up to the total beyond what a report carries', async () => {
  const stage = await new ShardStage().start();
  const blue = await stage.connect('blue');
  const old = WANTED.slice(0, REPORTED + 20);
  report(blue, 'blue', old);
  await stage.time.runFor(105_000);
  await assertWhole(stage, old.length);
  const green = await stage.connect('green');
  // What both want is one shortfall of both.
  report(green, 'green', WANTED.slice(REPORTED));
  await stage.time.runFor(20_000);
  assert.ok(TOTAL > REPORTED);
  await assertWhole(stage, TOTAL);
  for (const [name, count] of Object.entries(COUNTS)) {
    assert.equal(await stage.metric('shortfalls_by_priority', `priority_class="${name}"`), count);
  }
  assert.equal(await stage.metric('shortfalls_aged', 'bucket="10-59"'), old.length);
  assert.equal(await stage.metric('shortfalls_escalated'), old.length);
  assert.match(stage.logged('shortfalls detected').at(-1) ?? '', new RegExp(` count=${TOTAL} `));
  await stage.stop();
});
