// The two processes of a cluster: the operator that speaks with the shard, and the controller that turns
// Pods into CapacityRequests. One of each per cluster: the instance is the cluster.

import type { Dashboard } from '../dashboard.ts';
import { PROCESS_ROW } from './process-row.ts';
import { heat, quantileBy, quantiles } from './quantiles.ts';

export const OPERATOR: Dashboard = {
  name: 'operator',
  title: 'BigFleet / Operator and pod controller',
  description: 'Does demand of the cluster arrive at its shard, and do its machines become nodes.',
  choosesBy:
    '{__name__=~"bigfleet_operator_capacity_requests|bigfleet_unschedulable_pod_controller_reconciles_total"}',
  rows: [
    {
      title: 'Now',
      panels: [
        {
          kind: 'stat',
          title: 'Not connected',
          description: 'Operators without a session. Their clusters get nothing new.',
          badAt: 1,
          queries: [{ expr: 'count(bigfleet_operator_session_connected{@} == 0) or vector(0)' }],
          alerts: ['OperatorReconnects', 'ShardSessionsLow'],
        },
        {
          kind: 'stat',
          title: 'Reconnects in 5 min',
          description: 'Dials after a session ended. Above 0 for long: shard, then network.',
          warnAt: 1,
          queries: [{ expr: 'sum(increase(bigfleet_operator_session_reconnects_total{@}[5m]))' }],
          alerts: ['OperatorReconnects'],
        },
        {
          kind: 'stat',
          title: 'Phantom nodes',
          description:
            'Machines that are Configured without a Ready node: Pods wait although nothing is short.',
          badAt: 1,
          queries: [{ expr: 'sum(bigfleet_operator_phantom_nodes{@})' }],
          alerts: ['PhantomNodes'],
        },
        {
          kind: 'stat',
          title: 'CapacityRequests',
          description: 'Known at the last roll-up: one for each Pod that needs a machine.',
          queries: [{ expr: 'sum(bigfleet_operator_capacity_requests{@})' }],
        },
        {
          kind: 'stat',
          title: 'Outbox drops in 5 min',
          description: 'Answers to the shard that found no room. The operator cannot keep up.',
          warnAt: 1,
          queries: [{ expr: 'sum(increase(bigfleet_operator_outbox_dropped_total{@}[5m]))' }],
          alerts: ['OperatorOutboxDrops'],
        },
        {
          kind: 'stat',
          title: 'Controller errors in 5 min',
          description: 'Pods whose CapacityRequest could not be written. The log has the reason.',
          warnAt: 1,
          queries: [
            {
              expr:
                'sum(increase(bigfleet_unschedulable_pod_controller_reconciles_total' +
                '{outcome="error",@}[5m]))',
            },
          ],
        },
      ],
    },
    {
      title: 'Demand to the shard',
      panels: [
        {
          kind: 'heatmap',
          title: 'Roll-up duration',
          description: 'List, aggregate, enqueue. Above 1 s the cluster has very many requests.',
          unit: 's',
          queries: [heat('bigfleet_operator_rollup_duration_seconds')],
        },
        {
          kind: 'lines',
          title: 'Roll-up p50, p95, p99',
          description: 'The p99 should stay below 1 s. The phases say which part grows.',
          unit: 's',
          badAt: 1,
          queries: [
            ...quantiles('bigfleet_operator_rollup_duration_seconds'),
            quantileBy('bigfleet_operator_rollup_phase_duration_seconds', 'phase'),
          ],
        },
        {
          kind: 'lines',
          title: 'Acknowledgements',
          description:
            'CapacityRequests that became Acknowledged, per second. It follows the Pods that arrive; ' +
            'flat while requests pile up: no roll-up is applied.',
          unit: 'ops',
          queries: [
            {
              expr: 'sum by (instance) (rate(bigfleet_operator_acknowledged_total{@}[$__rate_interval]))',
              legend: '{{instance}}',
            },
          ],
        },
        {
          kind: 'lines',
          title: 'Acknowledge batch p50, p95, p99',
          description:
            'One batch of writes. The p99 should stay below 12 s; above, the API server is slow.',
          unit: 's',
          badAt: 12,
          queries: quantiles('bigfleet_operator_acknowledge_duration_seconds'),
        },
        {
          kind: 'lines',
          title: 'Since a roll-up was applied',
          description:
            'A few roll-up intervals at most. Rising: the shard holds, refuses or does not hear them.',
          unit: 's',
          warnAt: 60,
          queries: [
            {
              expr: 'time() - bigfleet_operator_rollup_last_acked_timestamp_seconds{@}',
              legend: '{{instance}}',
            },
          ],
          alerts: ['ShardRollupQuarantined', 'ShardRollupsRejected'],
        },
        {
          kind: 'lines',
          title: 'Left out of roll-ups',
          description:
            'CapacityRequests that cannot be translated, by reason. kubectl describe capacityrequest ' +
            'says why; others are not affected.',
          unit: 'ops',
          queries: [
            {
              expr: 'sum by (reason) (rate(bigfleet_operator_rollup_skipped_total{@}[$__rate_interval]))',
              legend: '{{reason}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Nodes',
      panels: [
        {
          kind: 'lines',
          title: 'Node state p99 by phase',
          description:
            'Handling one change of a machine. Above 100 ms the API server holds writes back; above ' +
            '1.5 s nodes are late.',
          unit: 's',
          warnAt: 0.1,
          badAt: 1.5,
          queries: [quantileBy('bigfleet_operator_node_state_update_duration_seconds', 'phase')],
          alerts: ['OperatorOutboxDrops'],
        },
        {
          kind: 'lines',
          title: 'Writes of UpcomingNodes',
          description:
            'By operation and outcome. A few conflicts are normal; error is the API server.',
          unit: 'ops',
          queries: [
            {
              expr:
                'sum by (op, outcome) (rate(' +
                'bigfleet_operator_upcoming_node_writes_total{@}[$__rate_interval]))',
              legend: '{{op}} {{outcome}}',
            },
          ],
        },
        {
          kind: 'lines',
          title: 'Evictions',
          description: 'blocked_pdb waits for a disruption budget, forbidden is RBAC.',
          unit: 'ops',
          queries: [
            {
              expr: 'sum by (outcome) (rate(bigfleet_operator_evictions_total{@}[$__rate_interval]))',
              legend: '{{outcome}}',
            },
          ],
          alerts: ['DrainsWithoutPDB'],
        },
        {
          kind: 'lines',
          title: 'Drain p99 by outcome',
          description:
            'From the cordon to the outcome of one node. deadline is a budget that never gave.',
          unit: 's',
          queries: [quantileBy('bigfleet_operator_drain_duration_seconds', 'outcome')],
          alerts: ['DrainsWithoutPDB'],
        },
        {
          kind: 'lines',
          title: 'Links between nodes and machines',
          description:
            'Should follow the machines of the cluster. Fewer: nodes that cannot be drained.',
          queries: [{ expr: 'bigfleet_operator_node_links{@}', legend: '{{instance}}' }],
        },
        {
          kind: 'lines',
          title: 'Relists of watches',
          description:
            'gone and watchdog now and then are normal. Many: the API server drops watches.',
          queries: [
            {
              expr:
                'sum by (resource, reason) (increase(' +
                'bigfleet_operator_informer_relists_total{@}[$__rate_interval]))',
              legend: '{{resource}} {{reason}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Pod controller',
      panels: [
        {
          kind: 'lines',
          title: 'Reconciles by outcome',
          description:
            'cr_created follows the Pods that cannot be scheduled. error should be 0: RBAC, or a Pod ' +
            'that cannot be translated.',
          width: 24,
          unit: 'ops',
          queries: [
            {
              expr:
                'sum by (outcome) (rate(' +
                'bigfleet_unschedulable_pod_controller_reconciles_total{@}[$__rate_interval]))',
              legend: '{{outcome}}',
            },
          ],
        },
      ],
    },
    PROCESS_ROW,
  ],
};
