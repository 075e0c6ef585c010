// The coordinator: who leads, is the store well, are shards heard, what moves between them.

import type { Dashboard } from '../dashboard.ts';
import { PROCESS_ROW } from './process-row.ts';
import { quantiles } from './quantiles.ts';

export const COORDINATOR: Dashboard = {
  name: 'coordinator',
  title: 'BigFleet / Coordinator',
  description: 'Who leads, is the store well, are shards heard, what moves between them.',
  choosesBy: 'bigfleet_coordinator_raft_term{}',
  rows: [
    {
      title: 'Now',
      panels: [
        {
          kind: 'stat',
          title: 'Term',
          description:
            'Rises with every election. More than three in 15 min is a fight for the lead.',
          queries: [{ expr: 'max(bigfleet_coordinator_raft_term{@})' }],
          alerts: ['CoordinatorLeaderStepdown', 'CoordinatorTermChurn'],
        },
        {
          kind: 'stat',
          title: 'Leaders',
          description: '1 is right. 0: the store has no quorum, or nobody runs; shards go on.',
          queries: [{ expr: 'sum(bigfleet_coordinator_is_leader{@})' }],
          alerts: ['CoordinatorNoLeader'],
        },
        {
          kind: 'stat',
          title: 'Store alarms',
          description:
            'Must be 0. /readyz of the replica names the alarm: compact, defragment, disarm.',
          badAt: 1,
          queries: [{ expr: 'max(bigfleet_coordinator_store_alarms{@})' }],
          alerts: ['CoordinatorStoreAlarm'],
        },
        {
          kind: 'stat',
          title: 'Conflicts',
          description: 'Claims of two shards on one thing. Must stay 0: bigfleetctl doctor.',
          badAt: 1,
          queries: [
            {
              expr:
                'sum(bigfleet_coordinator_ownership_conflicts_total{@}) ' +
                '+ sum(bigfleet_coordinator_cluster_binding_conflicts_total{@})',
            },
          ],
          alerts: ['CoordinatorOwnershipConflict'],
        },
        {
          kind: 'stat',
          title: 'Silent shards',
          description:
            'Shards that were not heard for a minute. bigfleetctl list-shards names them.',
          warnAt: 1,
          queries: [
            {
              expr: 'count(bigfleet_coordinator_shard_heartbeat_age_seconds{@} > 60) or vector(0)',
            },
          ],
          alerts: ['ShardHeartbeatStale'],
        },
        {
          kind: 'stat',
          title: 'Last snapshot',
          description: 'When one was exported. Nothing is shown without --snapshot-export-dir.',
          unit: 'dateTimeFromNow',
          queries: [
            {
              expr: '1000 * max(bigfleet_coordinator_snapshot_last_success_timestamp_seconds{@})',
            },
          ],
          alerts: ['CoordinatorSnapshotStale'],
        },
      ],
    },
    {
      title: 'Commands',
      panels: [
        {
          kind: 'lines',
          title: 'Applies by outcome',
          description:
            'error is the store refusing, fsm_error somebody sending what the state refuses. Both ' +
            'should be 0.',
          unit: 'ops',
          queries: [
            {
              expr: 'sum by (outcome) (rate(bigfleet_coordinator_apply_total{@}[$__rate_interval]))',
              legend: '{{outcome}}',
            },
          ],
          alerts: ['CoordinatorApplyErrors'],
        },
        {
          kind: 'lines',
          title: 'Apply duration',
          description:
            'From the first attempt of a command to its outcome: the latency of the store.',
          unit: 's',
          queries: quantiles('bigfleet_coordinator_apply_duration_seconds'),
        },
        {
          kind: 'lines',
          title: 'Term of each replica',
          description: 'All at one height. One that stays behind is cut off.',
          queries: [
            { expr: 'bigfleet_coordinator_raft_term{@}', legend: '{{instance}}' },
            { expr: 'bigfleet_coordinator_store_raft_term{@}', legend: '{{instance}} store' },
          ],
          alerts: ['CoordinatorTermChurn'],
        },
        {
          kind: 'lines',
          title: 'Leadership won and lost',
          description: 'lease_lost and guard_failed are a slow store or a frozen process.',
          queries: [
            {
              expr:
                'sum by (instance, reason) (increase(' +
                'bigfleet_coordinator_leadership_transitions_total{@}[$__rate_interval]))',
              legend: '{{instance}} {{reason}}',
            },
          ],
          alerts: ['CoordinatorLeaderStepdown'],
        },
      ],
    },
    {
      title: 'Shards',
      panels: [
        {
          kind: 'lines',
          title: 'Pending instructions',
          description:
            'Drains to 0 between rebalances. A shard that stays above does not acknowledge.',
          queries: [
            {
              expr: 'sum by (shard) (bigfleet_coordinator_pending_instructions{@})',
              legend: '{{shard}}',
            },
          ],
          alerts: ['CoordinatorPendingStuck'],
        },
        {
          kind: 'lines',
          title: 'Since a shard was heard',
          description: 'Above 60 s it is down or cut off; it neither gives nor takes machines.',
          unit: 's',
          warnAt: 60,
          queries: [
            {
              expr: 'max by (shard) (bigfleet_coordinator_shard_heartbeat_age_seconds{@})',
              legend: '{{shard}}',
            },
          ],
          alerts: ['ShardHeartbeatStale'],
        },
        {
          kind: 'lines',
          title: 'Reports',
          description:
            'stale and denied should be 0; not_leader is a shard that looks for the leader.',
          unit: 'ops',
          queries: [
            {
              expr: 'sum by (result) (rate(bigfleet_coordinator_reports_total{@}[$__rate_interval]))',
              legend: '{{result}}',
            },
          ],
        },
        {
          kind: 'lines',
          title: 'Refused identities',
          description:
            'A certificate presented by somebody it does not belong to: a security event.',
          unit: 'ops',
          queries: [
            {
              expr:
                'sum by (instance) (rate(' +
                'bigfleet_coordinator_identity_rejected_total{@}[$__rate_interval]))',
              legend: '{{instance}}',
            },
          ],
          alerts: ['ShardIdentityRejected'],
        },
      ],
    },
    {
      title: 'Rebalancing',
      panels: [
        {
          kind: 'lines',
          title: 'Moves by result',
          description:
            'Machines that shards give to each other. Many rejected or failed: bigfleetctl ' +
            'list-transfers --all.',
          unit: 'ops',
          queries: [
            {
              expr:
                'sum by (result) (rate(' +
                'bigfleet_coordinator_rebalance_moves_total{@}[$__rate_interval]))',
              legend: '{{result}}',
            },
          ],
        },
        {
          kind: 'lines',
          title: 'Open transfers',
          description: 'Under way, by phase. COMMITTED ones that stay wait for a silent shard.',
          queries: [
            {
              expr: 'sum by (phase) (bigfleet_coordinator_transfers_open{@})',
              legend: '{{phase}}',
            },
          ],
          alerts: ['CoordinatorPendingStuck'],
        },
      ],
    },
    PROCESS_ROW,
  ],
};
