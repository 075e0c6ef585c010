// Proves that the first scrape of a shard already has every series of observability §3 that it can
// feed, zero-filled where the label set is closed, so that alerts and rates work from the start.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MetricRegistry } from '@bigfleet/telemetry';
import { ShardStage } from '../process/testing/shard-stage.ts';

/** Name, type, and how many series the first scrape shows (histograms: how many `_count`). */
const SERIES: readonly (readonly [string, 'counter' | 'gauge' | 'histogram', number])[] = [
  ['cycle_duration_seconds', 'histogram', 1],
  ['cycle_phase_duration_seconds', 'histogram', 7],
  ['provisioning_latency_seconds', 'histogram', 1],
  ['configure_phase_seconds', 'histogram', 1],
  ['request_bootstrap_seconds', 'histogram', 1],
  ['drain_phase_seconds', 'histogram', 1],
  ['inventory_machines', 'gauge', 108],
  ['demand_machines', 'gauge', 27],
  ['shortfalls', 'gauge', 1],
  ['shortfalls_aged', 'gauge', 4],
  ['shortfalls_escalated', 'gauge', 1],
  ['shortfalls_by_priority', 'gauge', 4],
  ['actions_total', 'counter', 5],
  ['action_execute_outcomes_total', 'counter', 60],
  ['actions_deferred_total', 'counter', 1],
  ['actions_dropped_total', 'counter', 1],
  ['actions_deduped_total', 'counter', 1],
  ['action_queue_depth', 'gauge', 1],
  ['execute_inflight', 'gauge', 1],
  ['provider_execute_window', 'gauge', 1],
  ['provider_throttled_total', 'counter', 1],
  ['idle_releases_total', 'counter', 1],
  ['reclaims_capped_total', 'counter', 1],
  ['actions_suppressed_total', 'counter', 5],
  ['actuation_paused', 'gauge', 1],
  ['actions_dryrun_total', 'counter', 5],
  ['machines_rejected_total', 'counter', 4],
  ['rollups_total', 'counter', 4],
  ['active_sessions', 'gauge', 1],
  ['session_lifecycle_total', 'counter', 3],
  ['session_identity_rejected_total', 'counter', 1],
  ['session_frames_dropped_total', 'counter', 5],
  ['phase1_occ_proposals_total', 'counter', 2],
  ['phase1_occ_displacements_total', 'counter', 1],
  ['phase1_occ_retries_exhausted_total', 'counter', 1],
  ['cycles_total', 'counter', 1],
  ['need_rows', 'gauge', 1],
  ['reconcile_total', 'counter', 4],
  ['reconcile_last_success_timestamp_seconds', 'gauge', 1],
  ['reconcile_held_removals', 'gauge', 1],
  ['transition_oldest_seconds', 'gauge', 4],
  ['outbox_frames', 'gauge', 1],
  ['outbox_coalesced_total', 'counter', 1],
  ['sessions_stalled_total', 'counter', 1],
  ['reclaim_fallback_total', 'counter', 2],
  ['bootstrap_reissued_total', 'counter', 1],
  ['fenced', 'gauge', 1],
  ['drain_waiting', 'gauge', 1],
  ['drain_operator_outcomes_total', 'counter', 7],
  ['node_links', 'gauge', 1],
  ['records_bytes', 'gauge', 1],
  ['records_dropped_total', 'counter', 1],
  ['incremental_mismatch_total', 'counter', 1],
  ['rail_overrides', 'gauge', 1],
  ['brakes', 'gauge', 2],
  ['providers', 'gauge', 1],
  ['epoch', 'gauge', 1],
];

async function scrape(registry: MetricRegistry): Promise<string[]> {
  let text = '';
  for (const family of registry.snapshot().families) {
    for await (const slice of family.format()) text += slice;
  }
  return text.split('\n');
}

test('every series is there after the first cycle', async () => {
  const stage = await new ShardStage().start();
  await stage.time.runFor(100);
  const lines = await scrape(stage.registry);
  for (const [short, type, count] of SERIES) {
    const name = `bigfleet_shard_${short}`;
    assert.ok(lines.includes(`# TYPE ${name} ${type}`), `${name} is no ${type}`);
    const sample = type === 'histogram' ? `${name}_count` : name;
    const samples = lines.filter(
      (line) => line.startsWith(`${sample} `) || line.startsWith(`${sample}{`),
    );
    assert.equal(samples.length, count, `${name}: ${samples.join(', ')}`);
  }
  await stage.stop();
});

test('no retired name comes back', async () => {
  const stage = await new ShardStage().start();
  const text = (await scrape(stage.registry)).join('\n');
  for (const retired of ['pool_build_duration', 'phase1_take_duration', 'phase1_calls_total']) {
    assert.ok(!text.includes(retired), retired);
  }
  await stage.stop();
});
