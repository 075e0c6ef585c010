// For people who pay and people who plan: the queries that the founding documents give them.

import type { Dashboard } from '../dashboard.ts';

export const FINOPS: Dashboard = {
  name: 'finops',
  title: 'BigFleet / FinOps',
  description: "What is held, how it is paid for, and for which work. Prices are the provider's.",
  choosesBy: 'bigfleet_shard_cycles_total{}',
  from: 'now-7d',
  rows: [
    {
      title: 'What is held',
      panels: [
        {
          kind: 'lines',
          title: 'Machines by state',
          description: 'Idle is paid and unused. Speculative costs nothing: it could be bought.',
          isStacked: true,
          queries: [
            { expr: 'sum by (state) (bigfleet_shard_inventory_machines{@})', legend: '{{state}}' },
          ],
        },
        {
          kind: 'lines',
          title: 'Machines by how they are paid for',
          description:
            'Configured and Idle ones. Spot is cheap and goes away; Reserved is paid anyway.',
          isStacked: true,
          queries: [
            {
              expr: 'sum by (capacity_type) (bigfleet_shard_inventory_machines{state=~"Configured|Idle",@})',
              legend: '{{capacity_type}}',
            },
          ],
        },
        {
          kind: 'lines',
          title: 'Held, by interruption penalty',
          description:
            'Which work anchors which capacity. A high penalty on Spot is the red flag: an interruption ' +
            'probability is wrong.',
          isStacked: true,
          queries: [
            {
              expr:
                'sum by (capacity_type, interruption_penalty_bucket) ' +
                '(bigfleet_shard_inventory_machines{state="Configured",@}) > 0',
              legend: '{{capacity_type}} penalty {{interruption_penalty_bucket}}',
            },
          ],
          alerts: ['SpotPinned'],
        },
        {
          kind: 'lines',
          title: 'Asked for, by interruption penalty',
          description: 'Rows of the NeedsTable, not machines: the shape of demand, not its size.',
          isStacked: true,
          queries: [
            {
              expr: 'sum by (interruption_penalty_bucket) (bigfleet_shard_demand_machines{@}) > 0',
              legend: 'penalty {{interruption_penalty_bucket}}',
            },
          ],
        },
        {
          kind: 'lines',
          title: 'Actions',
          description: 'Reclaim or Preempt out of character deserve a look at priorities.',
          unit: 'ops',
          queries: [
            {
              expr: 'sum by (kind) (rate(bigfleet_shard_actions_total{@}[$__rate_interval]))',
              legend: '{{kind}}',
            },
          ],
        },
        {
          kind: 'lines',
          title: 'Pinned work',
          description:
            'Rows that may not be interrupted, and Spot machines that hold such work: must be 0.',
          queries: [
            {
              expr: 'sum(bigfleet_shard_demand_machines{interruption_penalty_bucket="pinned",@})',
              legend: 'asked for (rows)',
            },
            {
              expr:
                'sum(bigfleet_shard_inventory_machines{capacity_type="Spot",state="Configured",' +
                'interruption_penalty_bucket="pinned",@})',
              legend: 'on Spot (machines)',
            },
          ],
          alerts: ['SpotPinned'],
        },
      ],
    },
  ],
};

export const PLANNING: Dashboard = {
  name: 'planning',
  title: 'BigFleet / Capacity planning',
  description: 'The fleet over a quarter: size to the p99, with head-room for lead time and peaks.',
  choosesBy: 'bigfleet_shard_cycles_total{}',
  from: 'now-90d',
  rows: [
    {
      title: 'Ninety days',
      panels: [
        {
          kind: 'stat',
          title: 'Provisioned p99',
          description: 'Machines in use or joining, p99 of 90 days: size to this and head-room.',
          width: 12,
          queries: [
            {
              expr:
                'quantile_over_time(0.99, ' +
                'sum(bigfleet_shard_inventory_machines{state=~"Configured|Configuring",@})[90d:1h])',
            },
          ],
        },
        {
          kind: 'stat',
          title: 'Demand p99',
          description: 'Rows of the NeedsTable, p99 of 90 days: the shape that was asked for.',
          width: 12,
          queries: [
            {
              expr: 'quantile_over_time(0.99, sum(bigfleet_shard_demand_machines{@})[90d:1h])',
            },
          ],
        },
        {
          kind: 'lines',
          title: 'Machines in use or joining',
          description: 'Peaks that clusters share do not cancel out: look for a daily batch.',
          queries: [
            {
              expr: 'sum(bigfleet_shard_inventory_machines{state=~"Configured|Configuring",@})',
              legend: 'machines',
            },
          ],
        },
        {
          kind: 'lines',
          title: 'Rows asked for',
          description: 'Grows with clusters and profiles, not with Pods.',
          queries: [{ expr: 'sum(bigfleet_shard_demand_machines{@})', legend: 'rows' }],
        },
      ],
    },
  ],
};
