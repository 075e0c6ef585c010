// Values that charts refuse, with the words that they refuse them with: a wrong install must fail before it
// begins, and say what to write instead.

import type { Values } from './helm.ts';

export interface Refusal {
  readonly chart: string;
  readonly why: string;
  /** Dotted; on top of nothing. */
  readonly values: Values;
  readonly says: string;
}

const CLUSTER = { clusterID: 'c1' };
const SHARD = { shardAddress: 'shard:7780' };

function operator(why: string, values: Values, says: string): Refusal {
  return { chart: 'bigfleet-operator', why, values, says: `bigfleet-operator: ${says}` };
}

function plane(why: string, values: Values, says: string): Refusal {
  return { chart: 'bigfleet', why, values, says: `bigfleet: ${says}` };
}

function provider(why: string, values: Values, says: string): Refusal {
  const chart = 'bigfleet-provider-template';
  return { chart, why, values, says: `${chart}: ${says}` };
}

function dashboard(why: string, values: Values, says: string): Refusal {
  return { chart: 'bigfleet-dashboard', why, values, says: `bigfleet-dashboard: ${says}` };
}

export const REFUSALS: readonly Refusal[] = [
  dashboard(
    'nothing to show',
    { coordinatorAddress: '' },
    'nothing to show: set .Values.coordinatorAddress or .Values.shards',
  ),
  dashboard(
    'TLS required and absent',
    { requireTLS: true },
    '.Values.requireTLS needs .Values.tls.secretName or .Values.certManager.enabled',
  ),
  dashboard(
    'certificates of nobody',
    { 'certManager.enabled': true },
    '.Values.certManager.issuerRef.name is required',
  ),
  dashboard(
    'an Ingress for no host',
    { 'ingress.enabled': true },
    '.Values.ingress.host is required with .Values.ingress.enabled',
  ),
  dashboard(
    'reports in no ConfigMap',
    { 'conformance.reports': [{ provider: 'aws', key: 'aws.json' }] },
    '.Values.conformance.reports needs .Values.conformance.configMap',
  ),
  dashboard(
    'reports of nobody',
    { 'conformance.configMap': 'provider-reports' },
    '.Values.conformance.configMap needs .Values.conformance.reports',
  ),
  operator('no cluster id', SHARD, '.Values.clusterID is required'),
  operator('no shard', CLUSTER, '.Values.shardAddress is required'),
  operator(
    'two operators and no Lease',
    { ...CLUSTER, ...SHARD, replicas: 2 },
    '.Values.replicas above 1 needs .Values.leaderElection.enabled',
  ),
  operator(
    'certificates of nobody',
    { ...CLUSTER, ...SHARD, 'certManager.enabled': true },
    '.Values.certManager.issuerRef.name is required',
  ),
  operator(
    'TLS required and absent',
    { ...CLUSTER, ...SHARD, requireTLS: true },
    '.Values.requireTLS needs .Values.tls.secretName or .Values.certManager.enabled',
  ),
  plane(
    'nothing at all',
    { 'coordinator.enabled': false, 'shard.enabled': false },
    'coordinator.enabled and shard.enabled are both false',
  ),
  plane(
    'an even number of replicas',
    { 'coordinator.replicas': 2 },
    'coordinator.replicas is 1, 3 or 5, not 2',
  ),
  plane(
    'more replicas than consensus is good for',
    { 'coordinator.replicas': 7 },
    'coordinator.replicas is 1, 3 or 5, not 7',
  ),
  plane(
    'three replicas on SQLite',
    { 'coordinator.store': 'sqlite' },
    'coordinator.store=sqlite is for one replica',
  ),
  plane(
    'SQLite and an etcd',
    {
      'coordinator.store': 'sqlite',
      'coordinator.replicas': 1,
      'coordinator.etcd.endpoints': ['https://etcd:2379'],
    },
    'coordinator.store=sqlite excludes coordinator.etcd.endpoints',
  ),
  plane(
    'an etcd for one replica that nobody runs',
    { 'coordinator.store': 'etcd', 'coordinator.replicas': 1 },
    'coordinator.store=etcd with one replica needs coordinator.etcd.endpoints',
  ),
  plane(
    'a user without a password',
    {
      'coordinator.etcd.endpoints': ['https://etcd:2379'],
      'coordinator.etcd.auth.username': 'fleet',
    },
    'coordinator.etcd.auth.username and coordinator.etcd.auth.secretName go together',
  ),
  plane(
    'credentials of no etcd',
    { 'coordinator.etcd.tls.secretName': 'leaf' },
    'coordinator.etcd.auth and coordinator.etcd.tls are for coordinator.etcd.endpoints',
  ),
  plane(
    'plaintext to the etcd behind TLS everywhere else',
    {
      'coordinator.etcd.endpoints': ['http://etcd:2379'],
      'coordinator.tls.secretName': 'leaf',
      'shard.tls.secretName': 'leaf',
    },
    'coordinator.etcd.endpoints: http://etcd:2379 is plaintext',
  ),
  plane(
    'snapshots on the read-only root',
    { 'coordinator.snapshotExport.dir': '/backup' },
    'coordinator.snapshotExport.dir is below coordinator.dataDir (/var/lib/bigfleet)',
  ),
  plane(
    'a volume mounted nowhere',
    { 'coordinator.snapshotExport.volume': { emptyDir: {} } },
    'coordinator.snapshotExport.volume needs coordinator.snapshotExport.dir',
  ),
  plane(
    'an audit log on the read-only root',
    { 'shard.auditLog': '/var/log/audit.jsonl' },
    'shard.auditLog is below shard.dataDir (/var/lib/bigfleet-shard)',
  ),
  plane(
    'one provider and several',
    { 'shard.provider.addr': 'a:1', 'shard.providers': [{ name: 'b', addr: 'b:1' }] },
    'shard.provider.addr and shard.providers exclude each other',
  ),
  plane(
    'one certificate for two shards',
    {
      'shard.replicas': 2,
      'shard.tls.secretName': 'leaf',
      'coordinator.tls.secretName': 'leaf',
    },
    'shard.tls.secretName fits one shard',
  ),
  plane(
    'a pattern without a place for the ordinal',
    { 'shard.tls.secretNamePattern': 'leaf', 'coordinator.tls.secretName': 'leaf' },
    'shard.tls.secretNamePattern has {ordinal} in it',
  ),
  plane(
    'two ways to name the Secret',
    {
      'shard.tls.secretName': 'leaf',
      'shard.tls.secretNamePattern': 'leaf-{ordinal}',
      'coordinator.tls.secretName': 'leaf',
    },
    'shard.tls.secretName and shard.tls.secretNamePattern exclude each other',
  ),
  plane(
    'certificates of nobody',
    { 'certManager.enabled': true },
    'certManager.issuerRef.name is required',
  ),
  plane(
    'common names without certificates',
    { 'shard.tls.requireSessionCN': true },
    'shard.tls.requireSessionCN needs TLS',
  ),
  plane(
    'TLS on one side only',
    { 'coordinator.tls.secretName': 'leaf' },
    'coordinator.tls and shard.tls go together',
  ),
  plane(
    'TLS required and absent',
    { requireTLS: true },
    'requireTLS needs coordinator.tls.secretName or certManager.enabled',
  ),
  provider('TLS without a Secret', { 'tls.enabled': true }, 'tls.secretName is required'),
  provider('mutual TLS without TLS', { 'tls.mtls': true }, 'tls.mtls needs tls.enabled'),
  provider('TLS required and absent', { requireTLS: true }, 'requireTLS needs tls.enabled'),
];

/** Values that no schema lets through. */
export const OUTSIDE_SCHEMA: readonly Omit<Refusal, 'says'>[] = [
  { chart: 'bigfleet-operator', why: 'an unknown key', values: { clusterId: 'c1' } },
  {
    chart: 'bigfleet-operator',
    why: 'a parameter of the autoscaler',
    values: { rollupInterval: '1s' },
  },
  { chart: 'bigfleet-operator', why: 'a nested unknown key', values: { 'tls.cert': 'x' } },
  {
    chart: 'bigfleet-operator',
    why: 'a cluster id outside of the grammar',
    values: { clusterID: 'a/b' },
  },
  { chart: 'bigfleet-operator', why: 'a shard without a port', values: { shardAddress: 'shard' } },
  {
    chart: 'bigfleet-operator',
    why: 'a shard on a socket of the host',
    values: { shardAddress: 'unix:/run/shard.sock' },
  },
  { chart: 'bigfleet-operator', why: 'a port as text', values: { metricsPort: '8770' } },
  { chart: 'bigfleet', why: 'an unknown key', values: { 'shard.fakeProvider': true } },
  { chart: 'bigfleet', why: 'a seed of the fake', values: { 'shard.seedMachines': 5 } },
  { chart: 'bigfleet', why: 'an unknown store', values: { 'coordinator.store': 'raft' } },
  {
    chart: 'bigfleet',
    why: 'a bare number as a duration',
    values: { 'coordinator.leaderLeaseTTL': 5 },
  },
  { chart: 'bigfleet', why: 'a fraction above one', values: { 'shard.reclaimCapFraction': 5 } },
  {
    chart: 'bigfleet',
    why: 'a sidecar without an image',
    values: { 'shard.providerSidecars': [{ name: 'a' }] },
  },
  {
    chart: 'bigfleet-unschedulable-pod-controller',
    why: 'an unknown key of a class',
    values: { priorityClassDefaults: { a: { penalty: '1' } } },
  },
  {
    chart: 'bigfleet-unschedulable-pod-controller',
    why: 'a priority outside of int32',
    values: { 'priorityClassDefaults.a.priority': 3_000_000_000 },
  },
  { chart: 'bigfleet-provider-template', why: 'two processes', values: { replicaCount: 2 } },
];
