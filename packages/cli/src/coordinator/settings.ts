// From the flags of `bigfleet coordinator` to its settings: every rule about values that go
// together. Each refusal names the flags, so that it can be fixed without reading further.

import { err, ok, type Result } from '@bigfleet/base';
import type {
  CoordinatorSettings,
  EtcdCredentials,
  RebalanceSettings,
  SnapshotExportSettings,
  StoreSettings,
} from '@bigfleet/coordinator';
import { parseListenAddress } from '@bigfleet/telemetry';
import {
  isLoopback,
  isPlainEndpoint,
  isUnspecified,
  type FlagValues,
  type Parsed,
} from '@bigfleet/process/flags';
import { BUILD_VERSION, type Env } from '../command.ts';
import { tlsSettings } from '../process-flags.ts';
import type { CoordinatorFlags } from './flags.ts';

type Values = FlagValues<CoordinatorFlags>;

const NODE_ID = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,251}[A-Za-z0-9])?$/;
const MIN_LEASE_TTL_MS = 3_000;
const MIN_COOLDOWN_CYCLES = 8;
const DEFAULT_EXPORT_INTERVAL_MS = 300_000;

export function coordinatorSettings(
  parsed: Parsed<CoordinatorFlags>,
  env: Env,
): Result<CoordinatorSettings, string> {
  const { values } = parsed;
  const problem = valueProblem(values);
  if (problem !== undefined) return err(problem);
  const metricsAddress = parseListenAddress(values['metrics-addr']);
  if (!metricsAddress.ok) return err(`--metrics-addr: ${metricsAddress.error}`);
  const store = storeSettings(values);
  if (!store.ok) return store;
  const advertiseAddress = values['advertise-addr'] || dialable(values.listen);
  if (store.value.kind !== 'sqlite' && isUnspecified(advertiseAddress)) {
    return err(
      `${advertiseAddress} is no address that followers can name: give --advertise-addr=<host:port>`,
    );
  }
  return ok({
    nodeId: values.id,
    listen: values.listen,
    advertiseAddress,
    metricsAddress: metricsAddress.value,
    dataDir: values['data-dir'],
    mayBootstrap: values.bootstrap,
    store: store.value,
    snapshots: exportSettings(values),
    rebalance: rebalanceSettings(values),
    traceSamples: values['trace-samples'],
    hasDebugEndpoints: values['debug-endpoints'],
    hasReflection: values.reflection,
    tls: tlsSettings(values),
    build: { version: BUILD_VERSION, revision: env['BIGFLEET_REVISION'] ?? 'unknown' },
  });
}

function valueProblem(values: Values): string | undefined {
  if (!NODE_ID.test(values.id)) return `--id=${values.id}: write letters, digits, -, _ and .`;
  if (values.listen === '') return '--listen is empty: a coordinator without a port serves nobody';
  if (values['data-dir'] === '') return '--data-dir is empty';
  if (values['leader-lease-ttl'] < MIN_LEASE_TTL_MS) return '--leader-lease-ttl is at least 3s';
  if (values['rebalance-cooldown-cycles'] < MIN_COOLDOWN_CYCLES) {
    return '--rebalance-cooldown-cycles is at least 8';
  }
  if (values['rebalance-preempt-age'] < values['rebalance-age']) {
    return '--rebalance-preempt-age is at least --rebalance-age: a drain is the last resort';
  }
  if (values['etcd-prefix'] === '' || !values['etcd-prefix'].endsWith('/')) {
    return '--etcd-prefix ends in /';
  }
  return undefined;
}

function storeSettings(values: Values): Result<StoreSettings, string> {
  const endpoints = values['etcd-endpoints'].split(',').filter((each) => each !== '');
  const joins = values['join-addr'] !== '';
  if (joins && endpoints.length > 0) {
    return err('--join-addr manages an etcd and --etcd-endpoints uses yours: give one of them');
  }
  const wantsEtcd = joins || endpoints.length > 0;
  if (values.store === 'sqlite' && wantsEtcd) {
    return err('--store=sqlite is single-replica: it excludes --join-addr and --etcd-endpoints');
  }
  if (values.store === 'etcd' && !wantsEtcd) {
    return err('--store=etcd needs --etcd-endpoints (yours) or --join-addr (managed)');
  }
  if (!wantsEtcd) return ok({ kind: 'sqlite' });
  const shared = { prefix: values['etcd-prefix'], leaseTtlMs: values['leader-lease-ttl'] };
  if (!joins) {
    const credentials = etcdCredentials(values);
    if (!credentials.ok) return credentials;
    const plain = endpoints.find(isPlainEndpoint);
    if (plain !== undefined && isSecured(values)) {
      return err(
        `--etcd-endpoints: ${plain} is plaintext: a coordinator with TLS, or that requires it, ` +
          'keeps its state behind https',
      );
    }
    return ok({ kind: 'external-etcd', endpoints, credentials: credentials.value, ...shared });
  }
  if (!isLoopback(values['etcd-client-addr'])) {
    return err(
      `--etcd-client-addr=${values['etcd-client-addr']}: the managed etcd serves its coordinator ` +
        'alone, on a loopback address; it asks nobody who they are',
    );
  }
  const ordinal = /-(\d{1,6})$/.exec(values.id)?.[1];
  if (ordinal === undefined) {
    return err(`--id=${values.id}: with --join-addr it ends in -<ordinal>, such as coordinator-0`);
  }
  return ok({
    kind: 'managed-etcd',
    binary: values['etcd-binary'],
    clientAddress: values['etcd-client-addr'],
    peerBind: values['raft-bind'],
    peerAdvertise: values['raft-advertise'] || dialable(values['raft-bind']),
    joinAddress: values['join-addr'],
    ordinal: Number(ordinal),
    ...shared,
  });
}

/** A coordinator that must prove itself to everybody else does not keep its state in the open. */
function isSecured(values: Values): boolean {
  return values['tls-cert'] !== '' || values['require-tls'];
}

function etcdCredentials(values: Values): Result<EtcdCredentials, string> {
  const { 'etcd-tls-cert': cert, 'etcd-tls-key': key, 'etcd-tls-ca': ca } = values;
  const { 'etcd-username': username, 'etcd-password-file': passwordFile } = values;
  if ((cert === '') !== (key === '')) return err('--etcd-tls-cert and --etcd-tls-key go together');
  if (cert !== '' && ca === '') return err('--etcd-tls-cert needs --etcd-tls-ca');
  if ((username === '') !== (passwordFile === '')) {
    return err('--etcd-username and --etcd-password-file go together');
  }
  return ok({ cert, key, ca, username, passwordFile });
}

function exportSettings(values: Values): SnapshotExportSettings | undefined {
  const directory = values['snapshot-export-dir'];
  if (directory === '') return undefined;
  return {
    directory,
    intervalMs: values['snapshot-export-interval'] || DEFAULT_EXPORT_INTERVAL_MS,
    retain: values['snapshot-export-retain'],
  };
}

function rebalanceSettings(values: Values): RebalanceSettings {
  return {
    intervalMs: values['rebalance-interval'],
    ageCycles: values['rebalance-age'],
    preemptAgeCycles: values['rebalance-preempt-age'],
    cooldownCycles: values['rebalance-cooldown-cycles'],
    donorMargin: values['rebalance-donor-margin'],
    minBenefit: values['rebalance-min-benefit'],
    maxMachines: values['rebalance-max-machines'],
    maxMoves: values['rebalance-max-moves'],
    maxOverrides: values['rebalance-max-overrides'],
    isDryRun: values['rebalance-dry-run'],
  };
}

/** `:7790` is where to listen; a peer on this host dials the loopback address. */
function dialable(listen: string): string {
  return listen.startsWith(':') ? `127.0.0.1${listen}` : listen;
}
