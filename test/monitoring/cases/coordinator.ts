// Alerts of deploy/prometheus/coordinator.yaml.

import { type AlertCase, constant, type Firing, rising, stepTo } from '../alert-case.ts';

const WHO = 'job="bigfleet-coordinator",instance="c0"';
const REPLICA = { job: 'bigfleet-coordinator', instance: 'c0' };

const series = (name: string, labels = ''): string =>
  `bigfleet_coordinator_${name}{${labels === '' ? WHO : `${WHO},${labels}`}}`;

const firing = (
  severity: Firing['severity'],
  summary: string,
  labels: Firing['labels'] = {},
): Firing => ({ severity, summary, labels: { ...REPLICA, ...labels } });

const OTHER = 'bigfleet_coordinator_is_leader{job="bigfleet-coordinator",instance="c1"}';

export const COORDINATOR_CASES: readonly AlertCase[] = [
  {
    alert: 'CoordinatorNoLeader',
    world: { [series('is_leader')]: '1+0x4 0+0x150', [OTHER]: constant(0) },
    silentUntil: '5m',
    firesAt: '5m30s',
    fires: [{ severity: 'page', labels: {}, summary: 'No coordinator leads' }],
    silent: {
      'another one took over': { [series('is_leader')]: '1+0x4 0+0x150', [OTHER]: stepTo(1, 5) },
    },
  },
  {
    alert: 'CoordinatorLeaderStepdown',
    world: { [series('raft_term')]: '4+0x4 5+0x150' },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [firing('info', 'Coordinator c0 saw a new leader')],
    silent: { 'the same leader': { [series('raft_term')]: constant(4) } },
  },
  {
    alert: 'CoordinatorTermChurn',
    world: { [series('raft_term')]: '1+0x4 2 3 4 5 5+0x150' },
    silentUntil: '7m30s',
    firesAt: '8m',
    fires: [firing('page', 'Coordinator c0 saw 4 leaders in 15 minutes')],
    silent: { 'a rolling restart of three': { [series('raft_term')]: '1+0x4 2 3 4 4+0x150' } },
  },
  {
    alert: 'CoordinatorApplyErrors',
    world: {
      [series('apply_total', 'outcome="error"')]: rising(1),
      [series('apply_total', 'outcome="success"')]: rising(50),
    },
    silentUntil: '5m30s',
    firesAt: '6m',
    fires: [firing('page', 'Coordinator c0 fails commands with error', { outcome: 'error' })],
    silent: {
      'all succeed': {
        [series('apply_total', 'outcome="success"')]: rising(50),
        [series('apply_total', 'outcome="error"')]: constant(3),
        [series('apply_total', 'outcome="fsm_error"')]: constant(3),
      },
    },
  },
  {
    alert: 'CoordinatorApplyErrors',
    world: { [series('apply_total', 'outcome="fsm_error"')]: rising(1) },
    silentUntil: '5m30s',
    firesAt: '6m',
    fires: [
      firing('page', 'Coordinator c0 fails commands with fsm_error', { outcome: 'fsm_error' }),
    ],
    silent: {},
  },
  {
    alert: 'CoordinatorPendingStuck',
    world: { [series('pending_instructions', 'shard="shard-1"')]: constant(2) },
    silentUntil: '14m30s',
    firesAt: '15m',
    fires: [
      firing('ticket', 'Shard shard-1 does not acknowledge 2 instructions', { shard: 'shard-1' }),
    ],
    silent: {
      'it drains between rebalances': {
        [series('pending_instructions', 'shard="shard-1"')]: '2+0x10 0 2+0x10 0+0x150',
      },
    },
  },
  {
    alert: 'ShardHeartbeatStale',
    world: { [series('shard_heartbeat_age_seconds', 'shard="shard-1"')]: '5+0x4 61+0x150' },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [firing('ticket', 'Shard shard-1 was last heard 1m 1s ago', { shard: 'shard-1' })],
    silent: {
      'exactly a minute': {
        [series('shard_heartbeat_age_seconds', 'shard="shard-1"')]: constant(60),
      },
    },
  },
  {
    alert: 'CoordinatorStoreAlarm',
    world: { [series('store_alarms')]: stepTo(1, 5) },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [firing('page', 'The store of coordinator c0 has raised an alarm')],
    silent: { 'no alarm': { [series('store_alarms')]: constant(0) } },
  },
  {
    alert: 'CoordinatorOwnershipConflict',
    world: { [series('ownership_conflicts_total')]: stepTo(1, 5) },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [firing('page', 'Two shards claim the same at coordinator c0')],
    silent: {
      'no claim is contested': {
        [series('ownership_conflicts_total')]: constant(0),
        [series('cluster_binding_conflicts_total')]: constant(0),
      },
    },
  },
  {
    alert: 'CoordinatorOwnershipConflict',
    world: { [series('cluster_binding_conflicts_total')]: stepTo(1, 5) },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [firing('page', 'Two shards claim the same at coordinator c0')],
    silent: {},
  },
  {
    // The clock of a unit test begins at 0: exports worked until minute 5.
    alert: 'CoordinatorSnapshotStale',
    world: { [series('snapshot_last_success_timestamp_seconds')]: '0+60x5 300+0x150' },
    silentUntil: '20m',
    firesAt: '20m30s',
    fires: [
      {
        severity: 'ticket',
        labels: { job: 'bigfleet-coordinator' },
        summary: 'No snapshot of the coordinator was exported for 15 minutes',
      },
    ],
    silent: {
      'the new leader exports': {
        [series('snapshot_last_success_timestamp_seconds')]: '0+60x5 300+0x150',
        'bigfleet_coordinator_snapshot_last_success_timestamp_seconds{job="bigfleet-coordinator",instance="c1"}':
          rising(60),
      },
    },
  },
];
