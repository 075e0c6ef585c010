// Alerts of deploy/prometheus/shard.yaml.

import {
  type AlertCase,
  constant,
  type Firing,
  rising,
  stepTo,
  type World,
} from '../alert-case.ts';

const WHO = 'job="bigfleet-shard",instance="s0"';
const SHARD = { job: 'bigfleet-shard', instance: 's0' };

const series = (name: string, labels = ''): string =>
  `bigfleet_shard_${name}{${labels === '' ? WHO : `${WHO},${labels}`}}`;

const firing = (
  severity: Firing['severity'],
  summary: string,
  labels: Firing['labels'] = {},
): Firing => ({ severity, summary, labels: { ...SHARD, ...labels } });

/** The whole histogram: all observations in the bucket up to `le` seconds. */
const histogram = (name: string, le: string, labels = ''): World => {
  const bounds = ['0.512', '1.024', '2.048', '4.096', '8.192', '+Inf'];
  const from = bounds.indexOf(le);
  const extra = labels === '' ? '' : `,${labels}`;
  return Object.fromEntries(
    bounds.map((bound, at) => [
      series(`${name}_bucket`, `le="${bound}"${extra}`),
      rising(at < from ? 0 : 60),
    ]),
  );
};

const outcomes = (success: number, failed: number, outcome = 'provider_error'): World => ({
  [series('action_execute_outcomes_total', 'kind="Bootstrap",outcome="success"')]: rising(success),
  [series('action_execute_outcomes_total', `kind="Bootstrap",outcome="${outcome}"`)]:
    rising(failed),
});

const queue = (actions: number, dropped: number, deduped: number): World => ({
  [series('actions_total', 'kind="Bootstrap"')]: rising(actions / 2),
  [series('actions_total', 'kind="Reclaim"')]: rising(actions / 2),
  [series('actions_dropped_total')]: rising(dropped),
  [series('actions_deduped_total')]: rising(deduped),
});

const trade = (bought: number, released: number): World => ({
  [series('actions_total', 'kind="Provision"')]: rising(bought),
  [series('idle_releases_total')]: rising(released),
});

const reconciled = (at: string, uptime: string): World => ({
  [series('reconcile_last_success_timestamp_seconds', 'provider="lab"')]: at,
  [`process_uptime_seconds{${WHO}}`]: uptime,
});

/** Half-hourly: seven days within the first bound, then all of them up to the second. */
const WEEK = 340;
const phase = (before: string, after: string): World => {
  const bucket = (le: string): string =>
    series('cycle_phase_duration_seconds_bucket', `le="${le}",phase="reconcile"`);
  return {
    [bucket(before)]: `0+60x${WEEK} ${60 * WEEK}+0x30`,
    [bucket(after)]: `0+60x${WEEK + 30}`,
    [bucket('+Inf')]: `0+60x${WEEK + 30}`,
  };
};

export const SHARD_CASES: readonly AlertCase[] = [
  {
    alert: 'ShardShortfall',
    world: { [series('shortfalls')]: constant(3) },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [firing('ticket', '3 profiles are short at shard s0')],
    silent: {
      'nothing is short': { [series('shortfalls')]: constant(0) },
      'it passes within five minutes': { [series('shortfalls')]: '1+0x4 0+0x150' },
    },
  },
  {
    alert: 'ShardShortfallAboveBatch',
    world: {
      [series('shortfalls_by_priority', 'priority_class="service"')]: constant(1),
      [series('shortfalls_by_priority', 'priority_class="critical"')]: constant(1),
      [series('shortfalls_by_priority', 'priority_class="batch"')]: constant(5),
    },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [{ severity: 'page', labels: {}, summary: '2 profiles above class batch are short' }],
    silent: {
      'only batch is short': {
        [series('shortfalls_by_priority', 'priority_class="batch"')]: constant(9),
        [series('shortfalls_by_priority', 'priority_class="service"')]: constant(0),
        [series('shortfalls_by_priority', 'priority_class="critical"')]: constant(0),
      },
    },
  },
  {
    alert: 'ShardShortfallAged',
    world: {
      [series('shortfalls_aged', 'bucket="60-299"')]: stepTo(2, 5),
      [series('shortfalls_aged', 'bucket="300+"')]: stepTo(1, 5),
    },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [
      firing('ticket', '2 profiles are short for at least 60 cycles at shard s0', {
        bucket: '60-299',
      }),
      firing('page', '1 profiles are short for at least 300 cycles at shard s0', {
        bucket: '300+',
      }),
    ],
    silent: {
      'all are younger': {
        [series('shortfalls_aged', 'bucket="1-9"')]: constant(4),
        [series('shortfalls_aged', 'bucket="10-59"')]: constant(4),
        [series('shortfalls_aged', 'bucket="60-299"')]: constant(0),
        [series('shortfalls_aged', 'bucket="300+"')]: constant(0),
      },
    },
  },
  {
    alert: 'ShardRollupQuarantined',
    world: { [series('rollup_quarantined', 'cluster="prod-eu"')]: stepTo(1, 3) },
    silentUntil: '2m30s',
    firesAt: '3m',
    fires: [
      firing('ticket', 'Shard s0 holds back a roll-up of cluster prod-eu', { cluster: 'prod-eu' }),
    ],
    silent: {
      'none is held': { [series('rollup_quarantined', 'cluster="prod-eu"')]: constant(0) },
    },
  },
  {
    alert: 'ShardRollupsRejected',
    world: { [series('rollups_rejected_total', 'cluster="prod-eu"')]: rising(6) },
    silentUntil: '10m30s',
    firesAt: '11m',
    fires: [
      firing('ticket', 'Shard s0 refuses the roll-ups of cluster prod-eu', { cluster: 'prod-eu' }),
    ],
    silent: {
      'one was refused, once': {
        [series('rollups_rejected_total', 'cluster="prod-eu"')]: '0 1+0x150',
      },
    },
  },
  {
    alert: 'SpotPinned',
    world: {
      [series(
        'inventory_machines',
        'capacity_type="Spot",state="Configured",interruption_penalty_bucket="pinned"',
      )]: constant(2),
    },
    silentUntil: '14m30s',
    firesAt: '15m',
    fires: [
      firing('ticket', '2 Spot machines at shard s0 hold work that may not be interrupted', {
        capacity_type: 'Spot',
        state: 'Configured',
        interruption_penalty_bucket: 'pinned',
      }),
    ],
    silent: {
      'dear work on Spot and pinned work elsewhere': {
        [series(
          'inventory_machines',
          'capacity_type="Spot",state="Configured",interruption_penalty_bucket="8388608"',
        )]: constant(2),
        [series(
          'inventory_machines',
          'capacity_type="Spot",state="Configured",interruption_penalty_bucket="pinned"',
        )]: constant(0),
        [series(
          'inventory_machines',
          'capacity_type="Reserved",state="Configured",interruption_penalty_bucket="pinned"',
        )]: constant(2),
      },
    },
  },
  {
    alert: 'ShardDown',
    world: {
      [`up{${WHO}}`]: '1+0x4 0+0x150',
      'up{job="bigfleet-shard",instance="s1"}': constant(1),
    },
    silentUntil: '6m30s',
    firesAt: '7m',
    fires: [firing('page', 'Shard s0 does not answer')],
    silent: {
      'it answers, and another job is down': {
        [`up{${WHO}}`]: constant(1),
        'up{job="other",instance="x"}': constant(0),
      },
      'it misses one scrape': { [`up{${WHO}}`]: '1+0x4 0 1+0x150' },
    },
  },
  {
    alert: 'ShardCycleSlow',
    world: histogram('cycle_duration_seconds', '8.192'),
    silentUntil: '10m30s',
    firesAt: '11m',
    fires: [
      firing('warn', 'Cycle p99 of shard s0 is 8.151s'),
      firing('page', 'Cycle p99 of shard s0 is 8.151s'),
    ],
    silent: {
      'every cycle is just within a second': histogram('cycle_duration_seconds', '0.512'),
      'nothing was decided': Object.fromEntries(
        Object.keys(histogram('cycle_duration_seconds', '+Inf')).map((key) => [key, constant(7)]),
      ),
    },
  },
  {
    alert: 'ShardCycleSlow',
    world: histogram('cycle_duration_seconds', '2.048'),
    silentUntil: '10m30s',
    firesAt: '11m',
    fires: [firing('warn', 'Cycle p99 of shard s0 is 2.038s')],
    silent: {},
  },
  {
    alert: 'ShardPhaseRegression',
    interval: '30m',
    evaluation: '30m',
    world: phase('0.064', '0.256'),
    silentUntil: '171h',
    firesAt: '171h30m',
    fires: [
      {
        severity: 'warn',
        labels: { job: 'bigfleet-shard', phase: 'reconcile' },
        summary: "Phase reconcile of the cycle has a p99 of 254.1ms, more than twice last week's",
      },
    ],
    silent: {
      'as slow as ever': phase('+Inf', '0.256'),
      'four times as slow, and short all the same': phase('0.008', '0.032'),
    },
  },
  {
    alert: 'IncrementalMismatch',
    world: { [series('incremental_mismatch_total')]: stepTo(1, 5) },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [firing('page', 'An incremental cycle of shard s0 differed from the full pass')],
    silent: {
      'all agreed': { [series('incremental_mismatch_total')]: constant(0) },
      'the mismatch is an old one': { [series('incremental_mismatch_total')]: constant(1) },
    },
  },
  {
    alert: 'BootstrapFailing',
    world: outcomes(97, 3),
    silentUntil: '15m30s',
    firesAt: '16m',
    fires: [firing('page', 'Only 97% of the bootstraps of shard s0 succeed')],
    silent: {
      'one in a hundred fails': outcomes(99, 1),
      'the failures are only out of date': outcomes(90, 10, 'stale_state'),
      'nothing was bootstrapped': outcomes(0, 0),
    },
  },
  {
    alert: 'ConfiguresFailing',
    world: { [series('brakes', 'subject="need"')]: constant(1) },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [
      firing('ticket', 'Machines of 1 needs never join their cluster at shard s0', {
        subject: 'need',
      }),
    ],
    silent: {
      'only types are held off': {
        [series('brakes', 'subject="need"')]: constant(0),
        [series('brakes', 'subject="type"')]: constant(1),
      },
    },
  },
  {
    alert: 'InstanceTypeFailing',
    world: { [series('brakes', 'subject="type"')]: constant(1) },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [
      firing('ticket', '1 instance types fail in several clusters at shard s0', {
        subject: 'type',
      }),
    ],
    silent: {
      'only needs are held off': {
        [series('brakes', 'subject="type"')]: constant(0),
        [series('brakes', 'subject="need"')]: constant(1),
      },
    },
  },
  {
    alert: 'TransitionStuck',
    world: { [series('transition_oldest_seconds', 'state="Configuring"')]: rising(60) },
    silentUntil: '30m30s',
    firesAt: '31m',
    fires: [
      firing('ticket', 'A machine of shard s0 is Configuring for 31m 0s', {
        state: 'Configuring',
      }),
    ],
    silent: {
      'exactly half an hour': {
        [series('transition_oldest_seconds', 'state="Configuring"')]: constant(1_800),
      },
    },
  },
  {
    alert: 'ShardQueueSaturated',
    world: queue(100, 30, 30),
    silentUntil: '15m30s',
    firesAt: '16m',
    fires: [firing('warn', '60% of the actions of shard s0 find no room or are already under way')],
    silent: { half: queue(100, 25, 25), 'nothing was decided': queue(0, 0, 0) },
  },
  {
    alert: 'ShardBuyReleaseLoop',
    world: trade(10, 9),
    silentUntil: '30m30s',
    firesAt: '31m',
    fires: [firing('page', 'Shard s0 gives back what it buys')],
    silent: {
      'it buys more than it gives back': trade(10, 7),
      'it gives back more than it buys': trade(7, 10),
      'it only gives back': trade(0, 10),
      'it does neither': trade(0, 0),
    },
  },
  {
    alert: 'ShardReclaimCapEngaged',
    world: { [series('reclaims_capped_total')]: rising(5) },
    silentUntil: '15m30s',
    firesAt: '16m',
    fires: [firing('page', 'Shard s0 withdraws more machines than a cycle may')],
    silent: { 'one cycle was capped': { [series('reclaims_capped_total')]: '0 5+0x150' } },
  },
  {
    alert: 'DrainsWithoutPDB',
    world: { [series('reclaim_fallback_total', 'kind="Preempt"')]: stepTo(2, 5) },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [firing('ticket', 'Shard s0 drains machines without disruption budgets')],
    silent: {
      'operators emptied the nodes, or ran out of grace': {
        [series('reclaim_fallback_total', 'kind="Reclaim"')]: constant(0),
        [series('drain_operator_outcomes_total', 'outcome="empty"')]: rising(5),
        [series('drain_operator_outcomes_total', 'outcome="deadline"')]: rising(5),
        [series('drain_operator_outcomes_total', 'outcome="forbidden"')]: constant(0),
      },
    },
  },
  {
    alert: 'DrainsWithoutPDB',
    world: { [series('drain_operator_outcomes_total', 'outcome="forbidden"')]: stepTo(1, 5) },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [firing('ticket', 'Shard s0 drains machines without disruption budgets')],
    silent: {},
  },
  {
    alert: 'ShardActuationPaused',
    world: { [series('actuation_paused')]: constant(1) },
    silentUntil: '59m30s',
    firesAt: '60m',
    fires: [firing('ticket', 'Shard s0 is paused')],
    silent: {
      'it acts': { [series('actuation_paused')]: constant(0) },
      'the pause ends within the hour': { [series('actuation_paused')]: '1+0x58 0+0x150' },
    },
  },
  {
    alert: 'ShardFenced',
    world: {
      [series('action_execute_outcomes_total', 'kind="Delete",outcome="fenced"')]: stepTo(1, 5),
      [series('fenced')]: constant(0),
    },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [firing('page', 'A provider fenced shard s0')],
    silent: {
      'other failures': {
        [series('action_execute_outcomes_total', 'kind="Delete",outcome="other"')]: rising(3),
        [series('action_execute_outcomes_total', 'kind="Delete",outcome="fenced"')]: constant(0),
        [series('fenced')]: constant(0),
      },
    },
  },
  {
    // The outcome is minutes old, and nobody has restarted the process.
    alert: 'ShardFenced',
    world: { [series('fenced')]: stepTo(1, 2) },
    silentUntil: '1m30s',
    firesAt: '2m',
    fires: [firing('page', 'A provider fenced shard s0')],
    silent: {},
  },
  {
    alert: 'ShardIdentityRejected',
    world: {
      [series('session_identity_rejected_total')]: stepTo(1, 5),
      'bigfleet_coordinator_identity_rejected_total{job="bigfleet-coordinator",instance="c0",rpc="ReportShard"}':
        stepTo(1, 5),
    },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [
      firing('page', 'bigfleet-shard s0 refused an identity', { kind: 'security' }),
      {
        severity: 'page',
        labels: { job: 'bigfleet-coordinator', instance: 'c0', kind: 'security' },
        summary: 'bigfleet-coordinator c0 refused an identity',
      },
    ],
    silent: {
      'the last refusal is an old one': {
        [series('session_identity_rejected_total')]: constant(4),
      },
    },
  },
  {
    // The clock of a unit test begins at 0: the provider was heard until minute 10.
    alert: 'ReconcileStale',
    world: reconciled('0+60x10 600+0x150', rising(60)),
    silentUntil: '15m',
    firesAt: '15m30s',
    fires: [
      firing('page', 'Shard s0 has not heard provider lab for 5 minutes', { provider: 'lab' }),
    ],
    silent: {
      'every reconcile succeeds': reconciled(rising(60), rising(60)),
      'the process is young': reconciled(constant(0), constant(299)),
    },
  },
  {
    alert: 'ShardMachinesRejected',
    world: {
      [series('machines_rejected_total', 'reason="price"')]: rising(1),
      [series('machines_rejected_total', 'reason="structural"')]: rising(1),
    },
    silentUntil: '10m30s',
    firesAt: '11m',
    fires: [firing('ticket', 'Shard s0 refuses machines that a provider lists')],
    silent: {
      'one was refused, once': {
        [series('machines_rejected_total', 'reason="price"')]: '0 1+0x150',
      },
    },
  },
  {
    alert: 'ShardNoProvider',
    world: { [series('providers')]: constant(0) },
    silentUntil: '14m30s',
    firesAt: '15m',
    fires: [firing('ticket', 'Shard s0 has no provider')],
    silent: { 'it has one': { [series('providers')]: constant(1) } },
  },
  {
    alert: 'ShardSessionsLow',
    world: {
      [series('active_sessions')]: '5+0x9 4+0x150',
      'bigfleet_shard_active_sessions{job="bigfleet-shard",instance="s1"}': constant(2),
    },
    silentUntil: '19m30s',
    firesAt: '20m',
    fires: [
      {
        severity: 'warn',
        labels: { job: 'bigfleet-shard' },
        summary: 'Only 6 operators are connected, fewer than in the last day',
      },
    ],
    silent: {
      'as many as ever': { [series('active_sessions')]: constant(5) },
      'more and more': { [series('active_sessions')]: rising(1) },
      'operators moved from one shard to another': {
        [series('active_sessions')]: '5+0x9 3+0x150',
        'bigfleet_shard_active_sessions{job="bigfleet-shard",instance="s1"}': '2+0x9 4+0x150',
      },
    },
  },
  {
    alert: 'ShardSessionChurn',
    world: { [series('session_lifecycle_total', 'event="replaced"')]: rising(60) },
    silentUntil: '10m30s',
    firesAt: '11m',
    fires: [
      firing('warn', 'Operators of shard s0 replace their sessions 1 times a second', {
        event: 'replaced',
      }),
    ],
    silent: {
      'exactly the threshold': {
        [series('session_lifecycle_total', 'event="replaced"')]: rising(6),
      },
      'they come and go': {
        [series('session_lifecycle_total', 'event="installed"')]: rising(60),
        [series('session_lifecycle_total', 'event="removed"')]: rising(60),
      },
    },
  },
];
