// The queries over `bigfleet_shard_*` that the founding documents print, letter by letter, line
// breaks included, each with the answer that the world of loaded-shard.ts must give
// (observability §9, by its numbers). An answer names every series and every label: one that is
// missing, renamed or too many fails.

import { bucketLabel, PENALTY_BUCKETS } from '@bigfleet/base';
import { BOUND_COUNT } from './loaded-shard.ts';
import { type Measure, positive, zero } from './answer.ts';
import type { QueryCase } from './ask.ts';

const BUCKETS = PENALTY_BUCKETS.map(bucketLabel);
const CAPACITY_TYPES = ['BareMetal', 'Reserved', 'OnDemand', 'Spot'] as const;

const SHORTFALLS = { batch: 1, service: 1, critical: 1, other: 0 };
const DEMAND_ROWS = { ...all(BUCKETS, 0), 0: 4, 1: 1, 8: 1, 1024: 1, pinned: 1 };
/** Where work sits: batch found three machines, and the urgent need took one of the bound. */
const CONFIGURED = {
  ...all(
    CAPACITY_TYPES.flatMap((type) => BUCKETS.map((bucket) => `${type},${bucket}`)),
    0,
  ),
  'BareMetal,0': BOUND_COUNT + 2,
  'BareMetal,8': 1,
  'BareMetal,pinned': 3,
  'OnDemand,1024': 2,
  'Spot,1': 4,
};
const CONFIGURED_COUNT = BOUND_COUNT + 12;
const ABOVE_BATCH = SHORTFALLS.service + SHORTFALLS.critical + SHORTFALLS.other;

export const LIVE_QUERIES: readonly QueryCase[] = [
  {
    at: '1',
    query: 'bigfleet_shard_shortfalls > 0',
    answer: { by: [], isRaw: true, values: { '': 3 } },
  },
  {
    at: '2',
    query: 'sum(bigfleet_shard_shortfalls_by_priority{priority_class!="batch"}) > 0',
    answer: { by: [], values: { '': ABOVE_BATCH } },
  },
  {
    at: '3',
    query: 'sum(bigfleet_shard_shortfalls_by_priority{priority_class!="batch"})',
    answer: { by: [], values: { '': ABOVE_BATCH } },
  },
  {
    at: '4, left',
    query: 'sum(bigfleet_shard_shortfalls_by_priority)',
    answer: { by: [], values: { '': 3 } },
  },
  {
    at: '4, right',
    query: 'bigfleet_shard_shortfalls',
    answer: { by: [], isRaw: true, values: { '': 3 } },
  },
  {
    at: '4, the classes',
    query: 'bigfleet_shard_shortfalls_by_priority',
    answer: { by: ['priority_class'], isRaw: true, values: SHORTFALLS },
  },
  {
    at: '5',
    query: 'sum by (kind) (rate(bigfleet_shard_actions_total{kind="Preempt"}[5m]))',
    answer: { by: ['kind'], values: { Preempt: positive } },
  },
  {
    at: '6',
    query: `histogram_quantile(0.99,
sum by (le) (rate(bigfleet_shard_cycle_duration_seconds_bucket[5m]))
)`,
    answer: { by: [], values: { '': positive } },
  },
  {
    at: '7',
    query: `histogram_quantile(0.99,
sum by (le, phase) (rate(bigfleet_shard_cycle_phase_duration_seconds_bucket[5m]))
)`,
    answer: { by: ['phase'], values: phases() },
  },
  {
    at: '10',
    query: 'sum by (state) (bigfleet_shard_inventory_machines)',
    answer: {
      by: ['state'],
      values: { Configured: CONFIGURED_COUNT, Idle: 3, Speculative: 3 },
      // Published from the cycle on that first sees a machine in them, then 0.
      mayAlsoHave: { Creating: zero, Configuring: zero, Draining: zero },
    },
  },
  {
    at: '11',
    query: 'sum by (capacity_type) (bigfleet_shard_inventory_machines{state=~"Configured|Idle"})',
    answer: {
      by: ['capacity_type'],
      values: { BareMetal: BOUND_COUNT + 9, Reserved: 0, OnDemand: 2, Spot: 4 },
    },
  },
  {
    at: '12',
    query: `sum by (capacity_type, interruption_penalty_bucket) (
bigfleet_shard_inventory_machines{state="Configured"}
)`,
    answer: { by: ['capacity_type', 'interruption_penalty_bucket'], values: CONFIGURED },
  },
  {
    at: '13',
    query: 'sum by (interruption_penalty_bucket) (bigfleet_shard_demand_machines)',
    answer: { by: ['interruption_penalty_bucket'], values: DEMAND_ROWS },
  },
  {
    at: '14',
    query: 'sum by (kind) (rate(bigfleet_shard_actions_total[5m]))',
    answer: {
      by: ['kind'],
      values: {
        Bootstrap: positive,
        Provision: positive,
        Reclaim: positive,
        Preempt: positive,
        Delete: 0,
      },
    },
  },
  {
    at: '15, left',
    query: 'bigfleet_shard_demand_machines{interruption_penalty_bucket="pinned"}',
    answer: { by: ['interruption_penalty_bucket'], isRaw: true, values: { pinned: 1 } },
  },
  {
    at: '15, right',
    query:
      'bigfleet_shard_inventory_machines{capacity_type="Spot",state="Configured",interruption_penalty_bucket="pinned"}',
    answer: {
      by: ['capacity_type', 'state', 'interruption_penalty_bucket'],
      isRaw: true,
      values: { 'Spot,Configured,pinned': 0 },
    },
  },
  {
    at: '22',
    query: 'bigfleet_shard_inventory_machines{state="Configured"}',
    answer: {
      by: ['capacity_type', 'interruption_penalty_bucket', 'state'],
      isRaw: true,
      values: Object.fromEntries(
        Object.entries(CONFIGURED).map(([key, value]) => [`${key},Configured`, value]),
      ),
    },
  },
  ...['Bootstrap', 'Provision', 'Reclaim', 'Preempt'].map((kind) => ({
    at: 'Throughput',
    query: `bigfleet_shard_actions_total{kind="${kind}"}`,
    answer: { by: ['kind'], isRaw: true, values: { [kind]: positive } },
  })),
  {
    at: 'the gate of a passing run, closed here',
    query: 'bigfleet_shard_shortfalls == 0',
    answer: { by: [], isRaw: true, values: {} },
  },
];

/** They look at full hours only: for a scrape that is stamped with one. */
export const HOURLY_QUERIES: readonly QueryCase[] = [
  {
    at: '16',
    query: `quantile_over_time(0.99,
sum(bigfleet_shard_inventory_machines{state=~"Configured|Configuring"})[90d:1h]
)`,
    answer: { by: [], values: { '': CONFIGURED_COUNT } },
  },
  {
    at: '17',
    query: `quantile_over_time(0.99,
sum(bigfleet_shard_demand_machines)[90d:1h]
)`,
    answer: { by: [], values: { '': 8 } },
  },
];

function phases(): Readonly<Record<string, Measure>> {
  const labels = ['reconcile', 'snapread', 'phase1', 'phase2', 'phase3', 'emit', 'execute'];
  return all(labels, positive);
}

function all<T>(keys: readonly string[], value: T): Readonly<Record<string, T>> {
  return Object.fromEntries(keys.map((key) => [key, value]));
}
