// One shard, or several: what it decides, how fast, what becomes of it, and whom it hears.

import type { Dashboard } from '../dashboard.ts';
import { PROCESS_ROW } from './process-row.ts';
import { heat, quantileBy, quantiles } from './quantiles.ts';

export const SHARD: Dashboard = {
  name: 'shard',
  title: 'BigFleet / Shard',
  description: 'What a shard decides, how fast, what becomes of it, and whom it hears.',
  choosesBy: 'bigfleet_shard_cycles_total{}',
  rows: [
    {
      title: 'Now',
      panels: [
        {
          kind: 'stat',
          title: 'Shortfalls',
          description:
            'Profiles that wait for machines. bigfleetctl get shortfalls says who and why.',
          warnAt: 1,
          queries: [{ expr: 'sum(bigfleet_shard_shortfalls{@})' }],
          alerts: ['ShardShortfall'],
        },
        {
          kind: 'stat',
          title: 'Cycles a minute',
          description: 'The pulse of the loop. 0 is a shard that decides nothing: look at its log.',
          queries: [{ expr: '60 * sum(rate(bigfleet_shard_cycles_total{@}[$__rate_interval]))' }],
        },
        {
          kind: 'stat',
          title: 'Machines',
          description: 'All machines of the inventory; above half a million split the shard.',
          warnAt: 400_000,
          badAt: 500_000,
          queries: [{ expr: 'sum(bigfleet_shard_inventory_machines{@})' }],
        },
        {
          kind: 'stat',
          title: 'Need rows',
          description: 'Rows of the NeedsTable: what a cycle has to walk.',
          queries: [{ expr: 'sum(bigfleet_shard_need_rows{@})' }],
        },
        {
          kind: 'stat',
          title: 'Paused',
          description:
            'Shards whose decisions are not carried out. bigfleetctl rails says who and why.',
          warnAt: 1,
          queries: [{ expr: 'sum(bigfleet_shard_actuation_paused{@})' }],
          alerts: ['ShardActuationPaused'],
        },
        {
          kind: 'stat',
          title: 'Fenced',
          description:
            'Shards that a provider fenced. Two processes act for one id: never retry by hand.',
          badAt: 1,
          queries: [{ expr: 'sum(bigfleet_shard_fenced{@})' }],
          alerts: ['ShardFenced'],
        },
      ],
    },
    {
      title: 'Decisions',
      panels: [
        {
          kind: 'heatmap',
          title: 'Cycle duration',
          description:
            'Every cycle by how long it took. Two bands are two regimes: quiet and loaded.',
          unit: 's',
          queries: [heat('bigfleet_shard_cycle_duration_seconds')],
          alerts: ['ShardCycleSlow'],
        },
        {
          kind: 'lines',
          title: 'Cycle p50, p95, p99',
          description:
            'Above 1 s look at the phases below. Above 5 s the shard decides on demand that has changed.',
          unit: 's',
          warnAt: 1,
          badAt: 5,
          queries: quantiles('bigfleet_shard_cycle_duration_seconds'),
          alerts: ['ShardCycleSlow'],
        },
        {
          kind: 'lines',
          title: 'Actions',
          description: 'Emitted for execution, per second. A lasting band of Preempt is churn.',
          unit: 'ops',
          queries: [
            {
              expr: 'sum by (kind) (rate(bigfleet_shard_actions_total{@}[$__rate_interval]))',
              legend: '{{kind}}',
            },
          ],
          alerts: ['ShardBuyReleaseLoop'],
        },
        {
          kind: 'lines',
          title: 'Machines by state',
          description: 'Transitional bands that stay wide are a slow provider.',
          isStacked: true,
          queries: [
            { expr: 'sum by (state) (bigfleet_shard_inventory_machines{@})', legend: '{{state}}' },
          ],
          alerts: ['TransitionStuck'],
        },
        {
          kind: 'lines',
          title: 'Shortfalls by priority class',
          description: 'critical and service are an incident; batch alone is scarcity, by design.',
          isStacked: true,
          queries: [
            {
              expr: 'sum by (priority_class) (bigfleet_shard_shortfalls_by_priority{@})',
              legend: '{{priority_class}}',
            },
          ],
          alerts: ['ShardShortfallAboveBatch'],
        },
        {
          kind: 'lines',
          title: 'Shortfalls by age in cycles',
          description: 'What reaches 60 cycles does not pass by itself: bigfleetctl explain need.',
          isStacked: true,
          queries: [
            { expr: 'sum by (bucket) (bigfleet_shard_shortfalls_aged{@})', legend: '{{bucket}}' },
          ],
          alerts: ['ShardShortfallAged'],
        },
      ],
    },
    {
      title: 'Where the time goes',
      panels: [
        {
          kind: 'lines',
          title: 'Phases p99',
          description:
            'reconcile is the provider, snapread to phase3 the engine, execute the queue. The one that ' +
            'grows is the cause of a slow cycle.',
          unit: 's',
          queries: [quantileBy('bigfleet_shard_cycle_phase_duration_seconds', 'phase')],
          alerts: ['ShardPhaseRegression'],
        },
        {
          kind: 'lines',
          title: 'Executions that did not succeed',
          description:
            'By kind and outcome. blob_error and no_session are the operator, provider_error the ' +
            'provider, fenced is a page; stale_state and inventory_miss are harmless.',
          unit: 'ops',
          queries: [
            {
              expr:
                'sum by (kind, outcome) (rate(bigfleet_shard_action_execute_outcomes_total' +
                '{outcome!="success",@}[$__rate_interval])) > 0 or ' +
                'sum by (outcome) (rate(bigfleet_shard_action_execute_outcomes_total' +
                '{outcome="success",@}[$__rate_interval]))',
              legend: '{{kind}} {{outcome}}',
            },
          ],
          alerts: ['BootstrapFailing', 'ShardFenced'],
        },
        {
          kind: 'lines',
          title: 'Queue and executions',
          description:
            'Waiting and running. A queue at its cap with few running ones is a provider that throttles.',
          queries: [
            { expr: 'sum(bigfleet_shard_action_queue_depth{@})', legend: 'waiting' },
            { expr: 'sum(bigfleet_shard_execute_inflight{@})', legend: 'running' },
            { expr: 'sum(bigfleet_shard_drain_waiting{@})', legend: 'drains with operators' },
          ],
          alerts: ['ShardQueueSaturated'],
        },
        {
          kind: 'lines',
          title: 'Held back',
          description:
            'Actions that were decided and not carried out, per second, by what held them. ' +
            'bigfleetctl records shows each.',
          unit: 'ops',
          queries: [
            ['capped', 'reclaims_capped_total'],
            ['deferred', 'actions_deferred_total'],
            ['dropped', 'actions_dropped_total'],
            ['under way', 'actions_deduped_total'],
            ['suppressed', 'actions_suppressed_total'],
            ['dry run', 'actions_dryrun_total'],
          ].map(([legend, name]) => ({
            expr: `sum(rate(bigfleet_shard_${name}{@}[$__rate_interval]))`,
            legend: legend ?? '',
          })),
          alerts: ['ShardReclaimCapEngaged', 'ShardQueueSaturated'],
        },
        {
          kind: 'lines',
          title: 'Steps of a machine p99',
          description:
            'configure is from Configuring to Configured and should stay below 15 s beside the boot; ' +
            "bootstrap is the operator's part of it; drain is from Draining to Idle.",
          unit: 's',
          queries: (
            [
              ['configure', 'configure_phase_seconds'],
              ['bootstrap', 'request_bootstrap_seconds'],
              ['drain', 'drain_phase_seconds'],
            ] as const
          ).map(([legend, name]) => ({
            expr: `histogram_quantile(0.99, sum by (le) (rate(bigfleet_shard_${name}_bucket{@}[$__rate_interval])))`,
            legend,
          })),
        },
        {
          kind: 'lines',
          title: 'Oldest machine in each state',
          description:
            'Above half an hour the provider forgot it: bigfleetctl get machines --state=….',
          unit: 's',
          badAt: 1_800,
          queries: [
            {
              expr: 'max by (state) (bigfleet_shard_transition_oldest_seconds{@})',
              legend: '{{state}}',
            },
          ],
          alerts: ['TransitionStuck'],
        },
      ],
    },
    {
      title: 'Operators',
      panels: [
        {
          kind: 'lines',
          title: 'Sessions',
          description:
            'Clusters whose operator is connected. A step down: bigfleetctl get sessions.',
          width: 8,
          queries: [{ expr: 'bigfleet_shard_active_sessions{@}', legend: '{{instance}}' }],
          alerts: ['ShardSessionsLow'],
        },
        {
          kind: 'lines',
          title: 'Session events',
          description: 'replaced above 0.1 a second: something between cuts streams.',
          width: 8,
          unit: 'ops',
          queries: [
            {
              expr: 'sum by (event) (rate(bigfleet_shard_session_lifecycle_total{@}[$__rate_interval]))',
              legend: '{{event}}',
            },
          ],
          alerts: ['ShardSessionChurn', 'ShardIdentityRejected'],
        },
        {
          kind: 'lines',
          title: 'Roll-ups',
          description:
            'By what became of them. held waits for repetition, rejected is a broken operator; ' +
            'unchanged is the normal one of a quiet cluster.',
          width: 8,
          unit: 'ops',
          queries: [
            {
              expr: 'sum by (outcome) (rate(bigfleet_shard_rollups_total{@}[$__rate_interval]))',
              legend: '{{outcome}}',
            },
          ],
          alerts: ['ShardRollupsRejected', 'ShardRollupQuarantined'],
        },
        {
          kind: 'lines',
          title: "The operator's part of drains",
          description:
            'empty is a drain that kept every disruption budget. forbidden is RBAC, node_not_found a ' +
            'lost link, no_session an operator that is away.',
          width: 12,
          unit: 'ops',
          queries: [
            {
              expr: 'sum by (outcome) (rate(bigfleet_shard_drain_operator_outcomes_total{@}[$__rate_interval]))',
              legend: '{{outcome}}',
            },
            {
              expr: 'sum(rate(bigfleet_shard_reclaim_fallback_total{@}[$__rate_interval]))',
              legend: 'without an operator',
            },
          ],
          alerts: ['DrainsWithoutPDB'],
        },
        {
          kind: 'lines',
          title: 'Brakes',
          description:
            'Needs and instance types whose machines never join. bigfleetctl get brakes -o wide says ' +
            'whose and what the provider said.',
          width: 12,
          warnAt: 1,
          queries: [{ expr: 'sum by (subject) (bigfleet_shard_brakes{@})', legend: '{{subject}}' }],
          alerts: ['ConfiguresFailing', 'InstanceTypeFailing'],
        },
      ],
    },
    {
      title: 'Providers and coordinator',
      panels: [
        {
          kind: 'lines',
          title: 'Since a provider was heard',
          description:
            'Above 5 min the shard decides on an old inventory. 0 of the clock is never.',
          width: 8,
          unit: 's',
          badAt: 300,
          queries: [
            {
              expr: 'time() - bigfleet_shard_reconcile_last_success_timestamp_seconds{@}',
              legend: '{{instance}} {{provider}}',
            },
          ],
          alerts: ['ReconcileStale', 'ShardNoProvider'],
        },
        {
          kind: 'lines',
          title: 'Executions that a provider gets at a time',
          description:
            'Below --execute-concurrency the provider throttles and the shard has slowed down for it.',
          width: 8,
          queries: [
            {
              expr: 'min by (provider) (bigfleet_shard_provider_execute_window{@})',
              legend: '{{provider}}',
            },
          ],
          alerts: ['ShardQueueSaturated'],
        },
        {
          kind: 'lines',
          title: 'Refused records and out-of-band changes',
          description:
            'Records that a provider lists wrongly, and machines that changed without being asked ' +
            '(lost Spot machines).',
          width: 8,
          unit: 'ops',
          queries: [
            {
              expr: 'sum by (reason) (rate(bigfleet_shard_machines_rejected_total{@}[$__rate_interval]))',
              legend: 'refused: {{reason}}',
            },
            {
              expr: 'sum(rate(bigfleet_shard_out_of_band_transitions_total{@}[$__rate_interval]))',
              legend: 'out of band',
            },
          ],
          alerts: ['ShardMachinesRejected'],
        },
        {
          kind: 'lines',
          title: 'Reports to the coordinator',
          description:
            'By how they ended. Without success the shard goes on; it neither gives nor takes.',
          width: 12,
          unit: 'ops',
          queries: [
            {
              expr: 'sum by (outcome) (rate(bigfleet_shard_coordinator_report_total{@}[$__rate_interval]))',
              legend: '{{outcome}}',
            },
          ],
          alerts: ['ShardHeartbeatStale'],
        },
        {
          kind: 'stat',
          title: 'Engine mismatches',
          description:
            'Incremental cycles that differed from the full pass. Must stay 0; report it.',
          width: 6,
          badAt: 1,
          queries: [{ expr: 'sum(bigfleet_shard_incremental_mismatch_total{@})' }],
          alerts: ['IncrementalMismatch'],
        },
        {
          kind: 'stat',
          title: 'Records lost',
          description:
            'Decision records and audit lines that could not be written: the disk is full.',
          width: 6,
          badAt: 1,
          queries: [
            {
              expr:
                'sum(bigfleet_shard_records_dropped_total{@}) ' +
                '+ sum(bigfleet_shard_audit_records_dropped_total{@})',
            },
          ],
        },
      ],
    },
    PROCESS_ROW,
  ],
};
