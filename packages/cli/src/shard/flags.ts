// The flags of `bigfleet shard` (shard §3.1, coordinator §12). The chart renders from this list and
// a test compares the two: a chart that passed a flag nobody knew once crash-looped a release.

import {
  bigNumber,
  bytes,
  decimal,
  duration,
  text,
  texts,
  toggle,
  wholeNumber,
} from '@bigfleet/process/flags';
import { ADDRESS, processFlags } from '../process-flags.ts';

const FRACTION = { min: 0, max: 1 };

const fakeFlags = {
  'seed-machines': wholeNumber(0, 'fake: idle bare-metal machines'),
  'seed-speculative': wholeNumber(0, 'fake: on-demand quota slots'),
  'seed-spot': wholeNumber(0, 'fake: spot quota slots'),
  'seed-configured-per-cluster': wholeNumber(0, 'fake: machines bound to each seeded cluster'),
  'seed-cluster-total': wholeNumber(0, 'fake: clusters kwok-cluster-{c} of the whole fleet'),
  'seed-cluster-stride': wholeNumber(0, 'fake: this shard seeds c % stride == its ordinal'),
  'seed-density-multiplier': wholeNumber(1, 'fake: allocatable = n x resources', 1_000),
  archetypes: text('', 'fake: catalogue of machine shapes', '<file>'),
  'failure-rate-per-sec': decimal(0, 'fake: failures per second of a bound machine', FRACTION),
  'speculative-shed-at-seconds': wholeNumber(0, 'fake: when quota is lost'),
  'speculative-shed-multiplier': decimal(1, 'fake: share of the quota that is left', FRACTION),
};

/** Refused without --fake-provider. */
export const FAKE_ONLY = Object.keys(fakeFlags) as readonly (keyof typeof fakeFlags)[];

export const shardFlags = {
  listen: text(':7780', 'gRPC: sessions, reading, administration', ADDRESS),
  'metrics-addr': text(':8780', 'HTTP: /metrics, /healthz, /readyz; "0" turns it off', ADDRESS),
  id: text('shard-0', 'stable identity of this shard; the pod name in a StatefulSet', '<id>'),
  'data-dir': text('./data', 'epoch, lock and settings changed at run time', '<dir>'),
  provider: texts('a provider by its registry name', '<name=addr>'),
  'provider-addr': text('', 'one provider, named "default"', ADDRESS),
  'provider-keepalive-interval': duration(
    '60s',
    'between two pings to a provider while calls are open; over 5m for a grpc-go server at its default',
  ),
  'provider-keepalive-timeout': duration('20s', 'for its answer; then the connection is dropped'),
  'fake-provider': toggle(false, 'run a provider in this process; laptops and load tests only'),
  'coordinator-addr': text('', 'where to report; empty runs without a coordinator', ADDRESS),
  'advertise-addr': text('', 'address the coordinator records; empty is --listen', ADDRESS),
  'coordinator-heartbeat-interval': duration('10s', 'between two reports'),
  'provider-shared': toggle(false, 'several shards share these providers'),
  'epoch-floor': bigNumber(0n, 'lowest last epoch, after losing the data directory'),
  'require-session-cn': toggle(false, "a session's common name must be its cluster id"),
  'records-dir': text('', 'decision records; empty is <data-dir>/records', '<dir>'),
  'records-max-bytes': bytes('512Mi', 'bound of the records, oldest dropped first; 0 keeps none'),
  'execute-concurrency': wholeNumber(64, 'actions carried out at once, of each provider', 65_536),
  'max-actions-per-cycle': wholeNumber(0, 'the rest waits for the next cycle; 0 is unlimited'),
  'incremental-reconcile': toggle(false, 'List since a cursor; needed above 10,000 machines'),
  'available-capacity-interval': duration('0', 'between two hints of a profile; 0 is 5s'),
  'metrics-warmup-cycles': wholeNumber(0, 'first cycles that histograms leave out'),
  'phase-attribution-log': toggle(false, 'diagnostic lines every 20th cycle'),
  'actuation-paused': toggle(false, 'kill switch: decide and report, do nothing'),
  'dry-run': toggle(false, 'show what would be done, do nothing'),
  'audit-log': text('', 'append a JSON line for every action and administrative call', '<file>'),
  'reclaim-cap-fraction': decimal(0.05, "of a cluster's machines per cycle; 0 is off", FRACTION),
  'empty-rollup-guard': toggle(true, 'hold a roll-up that drops almost all demand'),
  'configure-brake': toggle(true, 'hold off needs and types whose machines never join'),
  'local-bootstrap': toggle(false, 'render stub blobs here; load tests only'),
  ...processFlags,
  ...fakeFlags,
};

export type ShardFlags = typeof shardFlags;
