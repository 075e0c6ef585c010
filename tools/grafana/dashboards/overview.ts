// The first look in the morning and on a page: is somebody waiting, is everything there, what does it
// cost, is it fast enough.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Dashboard } from '../dashboard.ts';

const RULES = path.join(import.meta.dirname, '../../../deploy/prometheus');

/** Prometheus may hold alerts of others too. */
const ALERT_NAMES = [
  ...new Set(
    readdirSync(RULES)
      .filter((file) => file.endsWith('.yaml'))
      .flatMap(
        (file) => readFileSync(path.join(RULES, file), 'utf8').match(/(?<=- alert: )\w+/g) ?? [],
      ),
  ),
].join('|');

export const OVERVIEW: Dashboard = {
  name: 'overview',
  title: 'BigFleet / Overview',
  description: 'Is somebody waiting, is everything there, what does it cost, is it fast enough.',
  choosesBy: 'bigfleet_build_info{}',
  rows: [
    {
      title: 'Now',
      panels: [
        {
          kind: 'stat',
          title: 'Short above batch',
          description:
            'Profiles above class batch that wait for machines. Above 0 somebody with priority waits: ' +
            'bigfleetctl get shortfalls.',
          badAt: 1,
          queries: [
            { expr: 'sum(bigfleet_shard_shortfalls_by_priority{priority_class!="batch",@})' },
          ],
          alerts: ['ShardShortfallAboveBatch'],
        },
        {
          kind: 'stat',
          title: 'Short in all',
          description:
            'Profiles that wait for machines, batch included. Only batch short is the system working ' +
            'as designed.',
          warnAt: 1,
          queries: [{ expr: 'sum(bigfleet_shard_shortfalls{@})' }],
          alerts: ['ShardShortfall'],
        },
        {
          kind: 'stat',
          title: 'Short for 60 cycles',
          description:
            'Shortfalls that do not pass by themselves: topology, quota, or a cluster at the wrong ' +
            'shard. bigfleetctl explain need says which.',
          badAt: 1,
          queries: [{ expr: 'sum(bigfleet_shard_shortfalls_aged{bucket=~"60-299|300[+]",@})' }],
          alerts: ['ShardShortfallAged'],
        },
        {
          kind: 'stat',
          title: 'Processes down',
          description: 'Targets that do not answer. kubectl -n bigfleet-system get pods.',
          badAt: 1,
          queries: [{ expr: 'count(up{@} == 0) or vector(0)' }],
          alerts: ['ShardDown', 'ProviderDown'],
        },
        {
          kind: 'stat',
          title: 'Leader',
          description:
            'Whether a coordinator leads. Shards go on without; nothing registers or moves.',
          mappings: { 0: 'none', 1: 'yes' },
          queries: [{ expr: '1 - absent(bigfleet_coordinator_is_leader == 1) or vector(1)' }],
          alerts: ['CoordinatorNoLeader'],
        },
        {
          kind: 'stat',
          title: 'Paused shards',
          description:
            'Shards whose decisions are not carried out. bigfleetctl rails says who and why.',
          warnAt: 1,
          queries: [{ expr: 'sum(bigfleet_shard_actuation_paused{@})' }],
          alerts: ['ShardActuationPaused'],
        },
        {
          kind: 'table',
          title: 'Firing alerts',
          description: 'Empty is good. Each has a section of its name in the runbook.',
          queries: [
            {
              expr:
                'sum by (alertname, severity, job, instance) ' +
                `(ALERTS{alertstate="firing",alertname=~"${ALERT_NAMES}"})`,
            },
          ],
        },
      ],
    },
    {
      title: 'Demand and supply',
      panels: [
        {
          kind: 'lines',
          title: 'Shortfalls by priority class',
          description:
            'Who waits. critical and service are an incident; batch alone is scarcity, by design.',
          isStacked: true,
          queries: [
            {
              expr: 'sum by (priority_class) (bigfleet_shard_shortfalls_by_priority{@})',
              legend: '{{priority_class}}',
            },
          ],
          alerts: ['ShardShortfall', 'ShardShortfallAboveBatch'],
        },
        {
          kind: 'lines',
          title: 'Machines by state',
          description:
            'The fleet. A band of Creating, Configuring, Draining or Deleting that stays wide is a ' +
            'slow provider; Failed ones wait for bigfleetctl provider reset-failed.',
          isStacked: true,
          queries: [
            {
              expr: 'sum by (state) (bigfleet_shard_inventory_machines{@})',
              legend: '{{state}}',
            },
          ],
          alerts: ['TransitionStuck'],
        },
        {
          kind: 'lines',
          title: 'Actions',
          description:
            'What shards do, per second. A lasting band of Preempt is churn by priorities; Provision ' +
            'and Delete that mirror each other is a loop.',
          unit: 'ops',
          queries: [
            {
              expr: 'sum by (kind) (rate(bigfleet_shard_actions_total{@}[$__rate_interval]))',
              legend: '{{kind}}',
            },
          ],
          alerts: ['ShardBuyReleaseLoop', 'ShardReclaimCapEngaged'],
        },
        {
          kind: 'lines',
          title: 'Connected operators',
          description:
            'Clusters whose operator is connected. A step down is a cluster that gets nothing new: ' +
            'bigfleetctl get sessions.',
          queries: [{ expr: 'sum(bigfleet_shard_active_sessions{@})', legend: 'operators' }],
          alerts: ['ShardSessionsLow', 'ShardSessionChurn'],
        },
      ],
    },
    {
      title: 'Cost',
      panels: [
        {
          kind: 'lines',
          title: 'Machines that are paid for',
          description:
            "Configured and Idle machines by how they are paid for. Prices are the provider's: " +
            'multiply outside BigFleet.',
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
          title: 'Idle share',
          description:
            'The part of paid machines that serves nobody. Bare metal and Reserved idle at night are ' +
            'fine; OnDemand or Spot that stay idle are not given back: look at the idle timeout.',
          unit: 'percentunit',
          warnAt: 0.3,
          queries: [
            {
              expr:
                '1 - sum by (capacity_type) (bigfleet_shard_inventory_machines{state="Configured",@}) ' +
                '/ (sum by (capacity_type) (bigfleet_shard_inventory_machines{state=~"Configured|Idle",@}) > 0)',
              legend: '{{capacity_type}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Speed',
      panels: [
        {
          kind: 'lines',
          title: 'Cycle p99',
          description:
            'How long the slowest cycles of each shard take. Above 1 s look at the phases on the shard ' +
            'dashboard; above 5 s the shard decides on demand that has changed.',
          unit: 's',
          warnAt: 1,
          badAt: 5,
          queries: [
            {
              expr:
                'histogram_quantile(0.99, sum by (le, instance) ' +
                '(rate(bigfleet_shard_cycle_duration_seconds_bucket{@}[$__rate_interval])))',
              legend: '{{instance}}',
            },
          ],
          alerts: ['ShardCycleSlow'],
        },
        {
          kind: 'lines',
          title: 'From first roll-up to first machine',
          description:
            'How long a new profile waits for its first Configured machine. Mostly the boot time of ' +
            'machines; a jump is a provider or an image.',
          unit: 's',
          queries: [0.5, 0.95, 0.99].map((quantile) => ({
            expr:
              `histogram_quantile(${quantile}, sum by (le) ` +
              '(rate(bigfleet_shard_provisioning_latency_seconds_bucket{@}[$__rate_interval])))',
            legend: `p${quantile * 100}`,
          })),
        },
      ],
    },
  ],
};
