// Proves the values of series that say what the shard held back, waits for or gave up, each from a
// whole shard in which exactly that happens; series.test.ts proves only that they are there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { State } from '@bigfleet/engine';
import {
  ClusterCapacityNeedsSchema,
  decode,
  encodeInit,
  Operator,
  PenaltyBucket,
} from '@bigfleet/wire';
import { fourCores } from '../core/testing/stage.ts';
import { LIBRARY_SETTINGS } from '../process/shard-options.ts';
import { demandOf, noDemand, ShardStage } from '../process/testing/shard-stage.ts';
import { hasSeries } from '../session/testing/metric-reader.ts';
import type { TestOperator } from '../session/testing/test-operator.ts';

const MINUTE_MS = 60_000;
const IDS = ['a', 'b', 'c', 'd', 'e'] as const;
type Rails = typeof LIBRARY_SETTINGS.rails;

function withRails(rails: Partial<Rails>): { rails: Rails } {
  return { rails: { ...LIBRARY_SETTINGS.rails, ...rails } };
}

/** A core each, in one rack whichever it is. */
function gangsOf(clusterId: string, groups: readonly string[]): ReturnType<typeof demandOf> {
  const [cpu, bucket] = [{ cpu: '1' }, PenaltyBucket.PENALTY_BUCKET_ZERO];
  const needs = groups.map((group) => ({
    group,
    requirements: [{ key: 'rack', operator: Operator.SAME, values: [] }],
    aggregateResources: cpu,
    minUnit: cpu,
    priority: 1_000,
    interruptionPenaltyBucket: bucket,
    reclamationPenaltyBucket: bucket,
  }));
  const bytes = encodeInit(ClusterCapacityNeedsSchema, { clusterId, needs });
  return decode(ClusterCapacityNeedsSchema, bytes, 'INVALID_ARGUMENT');
}

async function demanding(stage: ShardStage, cores: number): Promise<TestOperator> {
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', cores) });
  await stage.time.runFor(500);
  return operator;
}

test('reclaims_capped_total counts what rail 1 leaves for later', async () => {
  const stage = new ShardStage({ settings: withRails({ reclaimCapFraction: 0.05 }) });
  for (const id of IDS) stage.fake.addConfigured(fourCores(id), 'blue');
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: noDemand('blue') });
  await stage.time.runFor(500);
  assert.equal(await stage.metric('actions_total', 'kind="Reclaim"'), 1);
  assert.equal(await stage.metric('reclaims_capped_total'), 4);
  await stage.stop();
});

test('actions_deferred_total counts what the limit of a cycle cuts', async () => {
  const stage = new ShardStage({ settings: withRails({ maxActionsPerCycle: 2 }) });
  for (const id of IDS) stage.fake.addIdle(fourCores(id));
  await demanding(stage, 20);
  assert.equal(await stage.metric('actions_total', 'kind="Bootstrap"'), 5);
  assert.equal(await stage.metric('actions_deferred_total'), 4, 'three, and then one');
  await stage.stop();
});

test('the queue: what runs, what waits, what was dropped, what is already under way', async () => {
  const stage = new ShardStage({ settings: { executeConcurrency: 1 } });
  for (const id of IDS) stage.fake.addIdle(fourCores(id));
  await demanding(stage, 20);
  assert.equal(await stage.metric('execute_inflight'), 1, 'waits for the operator');
  assert.equal(await stage.metric('action_queue_depth'), 2, 'twice the concurrency');
  assert.equal(await stage.metric('actions_dropped_total'), 2);
  assert.equal(await stage.metric('actions_deduped_total'), 0);
  await stage.time.runFor(10_000);
  assert.equal(await stage.metric('actions_dropped_total'), 4, 'decided again');
  assert.equal(await stage.metric('actions_deduped_total'), 2, 'those that wait');
  await stage.stop();
});

test('shortfalls_aged moves an entry from bucket to bucket', async () => {
  const stage = new ShardStage();
  await demanding(stage, 4);
  const aged = (bucket: string): Promise<number> =>
    stage.metric('shortfalls_aged', `bucket="${bucket}"`);
  assert.deepEqual([await aged('1-9'), await aged('10-59')], [1, 0]);
  await stage.time.runFor(2 * MINUTE_MS);
  assert.deepEqual([await aged('1-9'), await aged('10-59'), await aged('60-299')], [0, 1, 0]);
  await stage.stop();
});

test('reconcile_held_removals counts machines that a List has lost too many of', async () => {
  const stage = new ShardStage();
  const ids = Array.from({ length: 12 }, (_, at) => `m${at}`);
  for (const id of ids) stage.fake.addIdle(fourCores(id));
  await stage.start();
  await stage.time.runFor(100);
  const held = (): Promise<number> => stage.metric('reconcile_held_removals', 'provider="alpha"');
  assert.equal(await held(), 0);
  for (const id of ids.slice(0, 10)) stage.fake.removeMachine(id);
  await stage.time.runFor(11_000);
  assert.equal(await held(), 10);
  assert.equal(stage.stateOf('m0'), State.Idle);
  await stage.time.runFor(30_000);
  assert.equal(await held(), 0, 'three Lists agree');
  assert.equal(stage.stateOf('m0'), undefined);
  await stage.stop();
});

test('transition_oldest_seconds is the age of the longest wait', async () => {
  const stage = new ShardStage({ latencyMs: 90 * MINUTE_MS });
  stage.fake.addIdle(fourCores('a'));
  const operator = await demanding(stage, 4);
  await stage.serve(operator, MINUTE_MS);
  const oldest = await stage.metric('transition_oldest_seconds', 'state="Configuring"');
  assert.ok(oldest > 59 && oldest < 61, `${oldest}`);
  assert.equal(await stage.metric('transition_oldest_seconds', 'state="Draining"'), 0);
  await stage.stop();
});

test('idle_releases_total counts a machine that went back when it was back', async () => {
  const stage = new ShardStage();
  stage.fake.addIdle(fourCores('a'));
  await stage.start();
  await stage.time.runFor(9 * MINUTE_MS);
  assert.equal(await stage.metric('idle_releases_total'), 0);
  await stage.time.runFor(2 * MINUTE_MS);
  assert.equal(stage.stateOf('a'), State.Speculative);
  assert.equal(await stage.metric('idle_releases_total'), 1);
  await stage.stop();
});

test('records_bytes is what the segments hold', async () => {
  const stage = new ShardStage();
  await demanding(stage, 4);
  await stage.time.runFor(MINUTE_MS);
  await stage.stop();
  const segments = await stage.records.list();
  const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  assert.ok(bytes > 0);
  assert.equal(await stage.metric('records_bytes'), bytes);
});

test('a provider that was never heard has a series, at 0, until it is', async () => {
  const stage = new ShardStage();
  const name = 'reconcile_last_success_timestamp_seconds';
  stage.isListFailing = true;
  await stage.start();
  await stage.time.runFor(1_000);
  const labels = 'provider="alpha"';
  assert.ok(await hasSeries(stage.registry, `bigfleet_shard_${name}`, labels));
  assert.equal(await stage.metric(name, labels), 0);
  stage.isListFailing = false;
  await stage.time.runFor(2_000);
  assert.equal(await stage.metric('cycles_total'), 1);
  assert.equal(await stage.metric('cycle_duration_seconds_count'), 0, 'waiting is no work');
  const now = Number(stage.time.runtime.clock.unixNanos() / 1_000_000_000n);
  assert.ok(Math.abs(now - (await stage.metric(name, labels))) < 5);
  await stage.stop();
});

test('rows of one key are one row of demand, and the gauges agree on it', async () => {
  const stage = await new ShardStage().start();
  const operator = await stage.connect('blue');
  const rollup = demandOf('blue', 4);
  operator.send({
    case: 'rollup',
    value: { ...rollup, needs: [...rollup.needs, ...rollup.needs] },
  });
  await stage.time.runFor(500);
  assert.equal(await stage.metric('need_rows'), 1);
  assert.equal(await stage.metric('demand_machines', 'interruption_penalty_bucket="0"'), 1);
  await stage.stop();
});

test('a machine for gangs that were folded ends the wait of what was demanded with Same', async () => {
  const stage = new ShardStage();
  stage.fake.addIdle({
    ...fourCores('a'),
    labels: new Map([
      ['pool', 'general'],
      ['rack', 'r1'],
    ]),
  });
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: gangsOf('blue', ['g1', 'g2']) });
  await stage.serve(operator, 15_000);
  assert.equal(stage.stateOf('a'), State.Configured);
  const slot = stage.shard.parts.core.fleet.inventory.slotOf('a');
  const { needFingerprint } = stage.shard.parts.core.fleet.read(slot).assigned;
  assert.ok(!needFingerprint.includes('rack'), `not folded: ${needFingerprint}`);
  assert.equal(await stage.metric('provisioning_latency_seconds_count'), 1);
  await stage.stop();
});
