// The queries over `bigfleet_coordinator_*` that the founding documents print, letter by letter, each
// with the answer that the world of loaded-coordinator.ts must give (observability §9, by its numbers).
// A metric that they only name is asked by its name, and for its rate where they speak of that.

import { COORDINATOR_JOB, positive } from './answer.ts';
import type { QueryCase } from './ask.ts';
import { BUSY_SHARD, QUIET_SHARD, REFUSED, UNACKNOWLEDGED } from './loaded-coordinator.ts';

const job = COORDINATOR_JOB;

export const COORDINATOR_QUERIES: readonly QueryCase[] = [
  {
    at: '8',
    query: 'sum(rate(bigfleet_coordinator_apply_total[5m]))',
    answer: { by: [], values: { '': positive } },
  },
  {
    at: '19, the term',
    query: 'bigfleet_coordinator_raft_term',
    answer: { by: [], isRaw: true, job, values: { '': 2 } },
  },
  {
    at: '19, its rate',
    query: 'sum(rate(bigfleet_coordinator_raft_term[5m]))',
    answer: { by: [], values: { '': positive } },
  },
  {
    at: '20, the outcomes',
    query: 'bigfleet_coordinator_apply_total',
    answer: {
      by: ['outcome'],
      isRaw: true,
      job,
      values: { success: positive, error: 0, fsm_error: REFUSED },
    },
  },
  {
    at: '20, error',
    query: 'bigfleet_coordinator_apply_total{outcome="error"}',
    answer: { by: ['outcome'], isRaw: true, job, values: { error: 0 } },
  },
  {
    at: '20, fsm_error',
    query: 'bigfleet_coordinator_apply_total{outcome="fsm_error"}',
    answer: { by: ['outcome'], isRaw: true, job, values: { fsm_error: REFUSED } },
  },
  {
    at: '21, every shard',
    query: 'bigfleet_coordinator_pending_instructions',
    answer: {
      by: ['shard'],
      isRaw: true,
      job,
      values: { [BUSY_SHARD]: UNACKNOWLEDGED, [QUIET_SHARD]: 0 },
    },
  },
  {
    at: '21',
    query: `bigfleet_coordinator_pending_instructions{shard="${BUSY_SHARD}"}`,
    answer: { by: ['shard'], isRaw: true, job, values: { [BUSY_SHARD]: UNACKNOWLEDGED } },
  },
];
