// The flags of `bigfleet coordinator` (coordinator §12.1). The chart renders from this list and a
// test compares the two: a flag that only one side knew once crash-looped a published chart.

import { decimal, duration, oneOf, text, toggle, wholeNumber } from '@bigfleet/process/flags';
import { ADDRESS, processFlags } from '../process-flags.ts';

const STORES = ['auto', 'sqlite', 'etcd'] as const;
const FRACTION = { min: 0, max: 1 };

export const coordinatorFlags = {
  listen: text(':7790', 'gRPC: reports, administration, reading', ADDRESS),
  'metrics-addr': text(':8790', 'HTTP: /metrics, /healthz, /readyz; "0" turns it off', ADDRESS),
  'advertise-addr': text('', 'gRPC address that followers name; empty is --listen', ADDRESS),
  id: text('node-1', 'stable id of this replica; ends in -<ordinal> with --join-addr', '<id>'),
  'data-dir': text('./coord-data', 'lock, database, or the managed etcd', '<dir>'),
  bootstrap: toggle(false, 'may initialise an empty store'),
  store: oneOf('auto', STORES, 'auto is etcd with --join-addr or --etcd-endpoints, else sqlite'),
  'join-addr': text('', 'gRPC Service of all replicas; makes a managed etcd', ADDRESS),
  'raft-bind': text(':7791', 'peer listener of the managed etcd', ADDRESS),
  'raft-advertise': text('', 'peer address that others dial; empty is --raft-bind', ADDRESS),
  'etcd-endpoints': text('', 'use this etcd, run by you', '<url,url>'),
  'etcd-binary': text('etcd', 'what the managed etcd is started from', '<file>'),
  'etcd-client-addr': text('127.0.0.1:2379', 'where the managed etcd serves us', ADDRESS),
  'etcd-prefix': text('/bigfleet/', 'of all our keys', '<prefix>'),
  'etcd-tls-cert': text('', 'client certificate for --etcd-endpoints', '<file>'),
  'etcd-tls-key': text('', 'its key', '<file>'),
  'etcd-tls-ca': text('', 'trust root of that etcd', '<file>'),
  'etcd-username': text('', 'of that etcd', '<name>'),
  'etcd-password-file': text('', 'its password; a file, never a flag', '<file>'),
  'leader-lease-ttl': duration('5s', 'a lost leader is replaced after this; at least 3s'),
  'snapshot-export-dir': text('', 'save snapshots here; empty is off', '<dir>'),
  'snapshot-export-interval': duration('0', 'between two snapshots; 0 is 5m'),
  'snapshot-export-retain': wholeNumber(288, 'snapshots kept; 0 keeps all'),
  'rebalance-interval': duration('50s', 'between two passes; 0 turns moves between shards off'),
  'rebalance-age': wholeNumber(5, 'cycles that a shortfall must exceed to be answered'),
  'rebalance-preempt-age': wholeNumber(12, 'cycles it must exceed for a drain elsewhere'),
  'rebalance-cooldown-cycles': wholeNumber(8, 'report intervals of rest after a move; at least 8'),
  'rebalance-donor-margin': decimal(0.1, 'share of its idle machines a donor keeps', FRACTION),
  'rebalance-min-benefit': decimal(0.1, 'share of a deficit a move must cover', FRACTION),
  'rebalance-max-machines': wholeNumber(50, 'per transfer', 50),
  'rebalance-max-moves': wholeNumber(10, 'per pass'),
  'rebalance-max-overrides': wholeNumber(10_000, 'machines owned against domain and home'),
  'rebalance-dry-run': toggle(false, 'log every decision, move nothing'),
  ...processFlags,
  'trace-samples': text('', 'write raw apply durations to this file', '<file>'),
};

export type CoordinatorFlags = typeof coordinatorFlags;
