// Alerts of deploy/prometheus/operator.yaml, provider.yaml and process.yaml.

import {
  type AlertCase,
  constant,
  type Firing,
  rising,
  stepTo,
  type World,
} from '../alert-case.ts';

const OPERATOR = { job: 'bigfleet-operator', instance: 'o0' };
const PROVIDER = { job: 'bigfleet-provider-example', instance: 'p0' };

type Labels = Readonly<Record<string, string>>;

const series = (name: string, labels: Labels): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',')}}`;

const ofOperator = (name: string): string => series(`bigfleet_operator_${name}`, OPERATOR);
const ofProvider = (name: string, labels: Labels = {}): string =>
  series(`bigfleet_example_${name}`, { ...PROVIDER, ...labels });

const firing = (severity: Firing['severity'], summary: string, labels: Labels): Firing => ({
  severity,
  summary,
  labels,
});

const apiCalls = (success: number, failed: number): World => ({
  [ofProvider('api_calls_total', { op: 'CreateServer', outcome: 'success' })]: rising(success),
  [ofProvider('api_calls_total', { op: 'CreateServer', outcome: 'error' })]: rising(failed),
  [ofProvider('api_calls_total', { op: 'DeleteServer', outcome: 'success' })]: rising(100),
  [ofProvider('api_calls_total', { op: 'DeleteServer', outcome: 'error' })]: constant(0),
});

const rpcs = (ok: number, refused: number, code: string): World => ({
  [ofProvider('grpc_requests_total', { method: 'Configure', code: 'OK' })]: rising(ok),
  [ofProvider('grpc_requests_total', { method: 'Configure', code })]: rising(refused),
});

const looks = (success: string, uptime: string): World => ({
  [ofProvider('reconcile_total', { outcome: 'success' })]: success,
  [ofProvider('reconcile_total', { outcome: 'error' })]: rising(1),
  [series('process_uptime_seconds', PROVIDER)]: uptime,
});

const lag = (seconds: number, thread: string, build = 'bigfleet_build_info'): World => ({
  [series('nodejs_eventloop_lag_p99_seconds', { ...OPERATOR, thread })]: constant(seconds),
  [series(build, { ...OPERATOR, component: 'operator', version: '0.1.0' })]: constant(1),
});

export const OPERATOR_CASES: readonly AlertCase[] = [
  {
    alert: 'OperatorReconnects',
    world: { [ofOperator('session_reconnects_total')]: rising(6) },
    silentUntil: '10m30s',
    firesAt: '11m',
    fires: [firing('warn', 'Operators dial their shard again 100m times a second', {})],
    silent: {
      'one restart of the shard': { [ofOperator('session_reconnects_total')]: '0 3+0x150' },
    },
  },
  {
    alert: 'OperatorOutboxDrops',
    world: { [ofOperator('outbox_dropped_total')]: rising(1) },
    silentUntil: '10m30s',
    firesAt: '11m',
    fires: [firing('warn', 'Operator o0 drops answers to its shard', OPERATOR)],
    silent: { 'none since long': { [ofOperator('outbox_dropped_total')]: constant(12) } },
  },
  {
    alert: 'PhantomNodes',
    world: { [ofOperator('phantom_nodes')]: constant(2) },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [
      firing('page', '2 machines of operator o0 are Configured without a Ready node', OPERATOR),
    ],
    silent: { 'every machine has its node': { [ofOperator('phantom_nodes')]: constant(0) } },
  },
];

export const PROVIDER_CASES: readonly AlertCase[] = [
  {
    alert: 'ProviderDown',
    world: { [series('up', PROVIDER)]: '1+0x4 0+0x150' },
    silentUntil: '9m30s',
    firesAt: '10m',
    fires: [firing('page', 'bigfleet-provider-example p0 does not answer', PROVIDER)],
    silent: { 'it answers': { [series('up', PROVIDER)]: constant(1) } },
  },
  {
    alert: 'ProviderPanics',
    world: { [ofProvider('panics_total')]: stepTo(1, 5) },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [
      firing('page', 'A handler of bigfleet-provider-example p0 failed with a bug', PROVIDER),
    ],
    silent: { 'an old one': { [ofProvider('panics_total')]: constant(1) } },
  },
  {
    alert: 'ProviderApiFailing',
    world: apiCalls(80, 20),
    silentUntil: '10m30s',
    firesAt: '11m',
    fires: [
      firing('ticket', '20% of the CreateServer calls of bigfleet-provider-example fail', {
        ...PROVIDER,
        op: 'CreateServer',
      }),
    ],
    silent: { 'one in ten': apiCalls(90, 10), 'no call': apiCalls(0, 0) },
  },
  {
    alert: 'ProviderRpcFailing',
    world: rpcs(90, 10, 'Unavailable'),
    silentUntil: '10m30s',
    firesAt: '11m',
    fires: [
      firing('ticket', '10% of the Configure calls to bigfleet-provider-example are refused', {
        ...PROVIDER,
        method: 'Configure',
      }),
    ],
    silent: { 'one in twenty': rpcs(95, 5, 'Unavailable'), 'no call': rpcs(0, 0, 'Unavailable') },
  },
  {
    alert: 'ProviderReconcileStale',
    world: looks('0+1x20 20+0x150', rising(60)),
    silentUntil: '34m',
    firesAt: '34m30s',
    fires: [
      firing('page', 'bigfleet-provider-example p0 has not seen its substrate for 15 minutes', {
        ...PROVIDER,
        outcome: 'success',
      }),
    ],
    silent: {
      'one look in ten minutes': looks(
        '0+0x9 1+0x9 2+0x9 3+0x9 4+0x9 5+0x9 6+0x9 7+0x9',
        rising(60),
      ),
      'the process is young': looks(constant(0), constant(899)),
      "the shard's own series": {
        'bigfleet_shard_reconcile_total{job="bigfleet-shard",instance="s0",provider="lab",mode="full",outcome="success"}':
          constant(3),
        'process_uptime_seconds{job="bigfleet-shard",instance="s0"}': rising(60),
      },
    },
  },
  {
    // The clock of a unit test begins at 0: prices are as old as the test.
    alert: 'ProviderPricesStale',
    interval: '5m',
    world: { [ofProvider('price_last_success_timestamp_seconds')]: constant(0) },
    silentUntil: '180m',
    firesAt: '180m30s',
    fires: [
      firing(
        'ticket',
        'The prices of bigfleet-provider-example p0 are older than 3 hours',
        PROVIDER,
      ),
    ],
    silent: {
      'refreshed every hour': {
        [ofProvider('price_last_success_timestamp_seconds')]:
          '0+0x11 3600+0x11 7200+0x11 10800+0x11 14400+0x11 18000+0x11 21600+0x11 25200+0x40',
      },
    },
  },
  {
    alert: 'ProviderFencedShard',
    world: {
      [ofProvider('grpc_requests_total', { method: 'Delete', code: 'FailedPrecondition' })]: stepTo(
        1,
        5,
      ),
    },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [
      firing('page', 'bigfleet-provider-example p0 refused a call by its fencing token', PROVIDER),
    ],
    silent: { 'other codes': rpcs(95, 5, 'NotFound') },
  },
  {
    alert: 'ProviderFencedShard',
    world: {
      [ofProvider('fenced_total')]: stepTo(1, 5),
      [ofProvider('grpc_requests_total', { method: 'Delete', code: 'FailedPrecondition' })]:
        '_x5 1+0x150',
    },
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [
      firing('page', 'bigfleet-provider-example p0 refused a call by its fencing token', PROVIDER),
    ],
    silent: { 'an old one': { [ofProvider('fenced_total')]: constant(1) } },
  },
];

export const PROCESS_CASES: readonly AlertCase[] = [
  {
    alert: 'EventLoopLag',
    world: lag(0.5, 'main'),
    silentUntil: '4m30s',
    firesAt: '5m',
    fires: [
      firing('warn', 'The event loop of bigfleet-operator o0 lags by 500ms', {
        ...OPERATOR,
        thread: 'main',
      }),
    ],
    silent: {
      'exactly the threshold': lag(0.25, 'main'),
      'another thread': lag(2, 'engine'),
      'another program': lag(2, 'main', 'other_build_info'),
    },
  },
  {
    // The clock of a unit test begins at 0.
    alert: 'CertificateExpires',
    world: {
      [series('bigfleet_tls_certificate_expiry_timestamp_seconds', OPERATOR)]: constant(604_860),
    },
    silentUntil: '1m',
    firesAt: '1m30s',
    fires: [
      firing(
        'ticket',
        'The certificate of bigfleet-operator o0 expires in 6d 23h 59m 30s',
        OPERATOR,
      ),
    ],
    silent: {
      'just over a week is left': {
        [series('bigfleet_tls_certificate_expiry_timestamp_seconds', OPERATOR)]:
          constant(1_000_000),
      },
    },
  },
];
