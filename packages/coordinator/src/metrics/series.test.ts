// Proves that the first scrape of a coordinator already has every series of observability §4, zero
// where the labels are closed; that series of a shard go with it; and that none outlive leadership.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { createRegistry } from '@bigfleet/telemetry';
import { metricsOf } from '../process/assemble.ts';
import { CoordinatorStage, samples } from '../process/testing/coordinator-stage.ts';

function countOf(lines: readonly string[], name: string): number {
  const pattern = new RegExp(`^bigfleet_coordinator_${name}(?:\\{| )`);
  return lines.filter((line) => pattern.test(line)).length;
}

const FIRST_SCRAPE: readonly (readonly [string, number])[] = [
  ['raft_term', 1],
  ['store_raft_term', 1],
  ['store_alarms', 1],
  ['is_leader', 1],
  ['apply_total', 3],
  ['apply_duration_seconds_count', 1],
  ['leadership_transitions_total', 4],
  ['reports_total', 4],
  ['lease_revocations_total', 1],
  ['rebalance_passes_total', 1],
  ['rebalance_moves_total', 18],
  ['transfers_open', 2],
  ['ownership_conflicts_total', 1],
  ['cluster_binding_conflicts_total', 1],
  ['term_jumps_refused_total', 1],
  ['pending_instructions', 0],
  ['shard_heartbeat_age_seconds', 0],
  ['snapshot_last_success_timestamp_seconds', 0],
];

test('every series is there before anything happened', async () => {
  const stage = new CoordinatorStage();
  const lines = await samples(await stage.start('node-0'));
  for (const [name, count] of FIRST_SCRAPE) assert.equal(countOf(lines, name), count, name);
});

test('a shard has series while it is registered and this replica leads', async () => {
  const stage = new CoordinatorStage();
  const leader = await stage.start('node-0');
  const report = { shardId: 'shard-a', shardEpoch: 1n, cycle: 1n };
  await stage.run(stage.coordinator(leader).reportShard(report));
  await stage.time.runFor(7_000);
  const lines = await samples(leader);
  assert.ok(lines.includes('bigfleet_coordinator_pending_instructions{shard="shard-a"} 0'));
  const age = lines.find((line) => line.includes('heartbeat_age_seconds{shard="shard-a"}'));
  assert.ok(Number(age?.split(' ')[1]) >= 7, age);
  assert.ok(lines.includes('bigfleet_coordinator_reports_total{result="accepted"} 1'));
  assert.ok(lines.includes('bigfleet_coordinator_apply_total{outcome="success"} 2'));
  stage.disk.depose();
  await stage.time.runFor(1);
  const after = await samples(leader);
  assert.equal(countOf(after, 'pending_instructions'), 0);
  assert.equal(countOf(after, 'shard_heartbeat_age_seconds'), 0);
  const lost = 'bigfleet_coordinator_leadership_transitions_total{reason="lease_lost"} 1';
  assert.ok(after.includes(lost));
});

test('a registered shard that a new leader has not heard is as old as that leadership', async () => {
  const stage = new CoordinatorStage();
  const first = await stage.start('node-0');
  const report = { shardId: 'shard-a', shardEpoch: 1n, cycle: 1n };
  await stage.run(stage.coordinator(first).reportShard(report));
  const second = await stage.start('node-1');
  const stopping = first.replica.stop();
  await stage.time.runFor(61_000);
  await stopping;
  const ageOf = async (): Promise<number> => {
    const lines = await samples(second);
    const line = lines.find((each) => each.includes('heartbeat_age_seconds{shard="shard-a"}'));
    return Number(line?.split(' ')[1]);
  };
  const unheard = await ageOf();
  assert.ok(unheard > 60 && unheard <= 61, `${unheard} s`);
  await stage.run(stage.coordinator(second).reportShard({ ...report, cycle: 2n }));
  assert.ok((await ageOf()) < 1);
});

test('an export that never worked has a sample to alert on; one that did keeps its time', async () => {
  const { runtime } = createVirtualRuntime({ seed: 'series', drain: drainMicrotasks });
  const registry = createRegistry();
  const metrics = metricsOf(registry, runtime);
  const lastSuccess = async (): Promise<number> => {
    const lines = await samples({ registry });
    const line = lines.find((each) => each.includes('snapshot_last_success')) ?? assert.fail();
    return Number(line.split(' ')[1]);
  };
  metrics.onSnapshotFailed();
  assert.equal(await lastSuccess(), 1);
  metrics.onSnapshotSaved();
  const savedAt = await lastSuccess();
  assert.ok(savedAt > 1_700_000_000);
  metrics.onSnapshotFailed();
  assert.equal(await lastSuccess(), savedAt);
});
