// Every chart, and for every value of it a change that must be seen in what is rendered: a value that renders
// nothing is a promise that nobody keeps. What a change needs beside it is `given`, on both sides of the
// comparison.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseYaml } from '@bigfleet/process';
import type { ProgramName } from '@bigfleet/cli';
import { isMapping, nested, ROOT, type Values } from './helm.ts';

export interface ChartCase {
  readonly name: string;
  readonly folder: string;
  /** Without these it does not render. Dotted. */
  readonly required: Values;
  /** Containers whose arguments are those of one of BigFleet's programs. */
  readonly programs: Readonly<Record<string, ProgramName>>;
  readonly changes: Readonly<Record<string, Change>>;
  /** As many features at once as go together. Dotted. */
  readonly everything: Values;
}

export interface Change {
  readonly to: unknown;
  /** Dotted. */
  readonly given?: Values;
}

const ISSUED = { 'certManager.enabled': true, 'certManager.issuerRef.name': 'fleet-ca' };
const POLICED = { 'networkPolicy.enabled': true };

function to(value: unknown, given: Values = {}): Change {
  return { to: value, given };
}

const COMMON: Readonly<Record<string, Change>> = {
  'image.repository': to('registry.example.com/another'),
  'image.tag': to('v9.9.9'),
  'image.pullPolicy': to('Always'),
  imagePullSecrets: to([{ name: 'pull' }]),
  'serviceAccount.name': to('somebody'),
  logFormat: to('json'),
  logLevel: to('debug'),
  tolerations: to([{ key: 'dedicated', operator: 'Exists' }]),
  nodeSelector: to({ 'node.example.com/pool': 'system' }),
  'networkPolicy.prometheusNamespace': to('monitoring', POLICED),
};

const CERTIFICATES: Readonly<Record<string, Change>> = {
  'certManager.enabled': to(true, { 'certManager.issuerRef.name': 'fleet-ca' }),
  'certManager.issuerRef.name': to('another-ca', ISSUED),
  'certManager.issuerRef.kind': to('ClusterIssuer', ISSUED),
  'certManager.issuerRef.group': to('issuers.example.com', ISSUED),
  'certManager.duration': to('12h', ISSUED),
  'certManager.renewBefore': to('2h', ISSUED),
};

const IN_CLUSTER: Readonly<Record<string, Change>> = {
  namespace: to('elsewhere'),
  'networkPolicy.apiServerPorts': to([16443], POLICED),
  priorityClassName: to(''),
};

const OPERATOR: ChartCase = {
  name: 'bigfleet-operator',
  folder: 'deploy/helm/bigfleet-operator',
  required: { clusterID: 'cluster-prod-eu', shardAddress: 'bigfleet-shard.bigfleet-system:7780' },
  programs: { operator: 'operator' },
  changes: {
    ...COMMON,
    ...IN_CLUSTER,
    ...CERTIFICATES,
    clusterID: to('cluster-prod-us'),
    shardAddress: to('shard.example.com:443'),
    replicas: to(2, { 'leaderElection.enabled': true }),
    bootstrapTemplate: to('#!/bin/sh\njoin {{ .ClusterID }} {{ .MachineIDLabel }}\n'),
    bootstrapAllowedKeys: to(['topology.kubernetes.io/zone', 'node.kubernetes.io/instance-type']),
    apiServerEndpoint: to('https://api.cluster.example.com:6443'),
    'bootstrapToken.ttl': to('45m', { 'bootstrapToken.enabled': true }),
    'bootstrapToken.minTtl': to('400s', { 'bootstrapToken.enabled': true }),
    'tls.secretName': to('operator-leaf'),
    requireTLS: to(true, { 'tls.secretName': 'operator-leaf' }),
    shardID: to('bigfleet-shard-0'),
    shardServerName: to('bigfleet-shard.bigfleet-system.svc'),
  },
  everything: {
    ...ISSUED,
    ...POLICED,
    requireTLS: true,
    'podMonitor.enabled': true,
    replicas: 2,
    'leaderElection.enabled': true,
    'bootstrapToken.enabled': true,
    bootstrapTemplate: 'join {{ .BootstrapToken }}\n',
    bootstrapAllowedKeys: ['topology.kubernetes.io/zone'],
    imagePullSecrets: [{ name: 'pull' }],
    tolerations: [{ operator: 'Exists' }],
    nodeSelector: { pool: 'system' },
  },
};

const POD_CONTROLLER: ChartCase = {
  name: 'bigfleet-unschedulable-pod-controller',
  folder: 'deploy/helm/bigfleet-unschedulable-pod-controller',
  required: {},
  programs: { controller: 'pod-controller' },
  changes: {
    ...COMMON,
    ...IN_CLUSTER,
    priorityClassDefaults: to({
      critical: { interruptionPenalty: '100', reclamationPenalty: 2.5, priority: 2_000_000_000 },
      batch: { priority: -5 },
    }),
    daemonsetPods: to('ignore'),
    excludeNamespaces: to(['kube-system', 'monitoring']),
  },
  everything: {
    ...POLICED,
    'podMonitor.enabled': true,
    priorityClassDefaults: { critical: { interruptionPenalty: '1500m' } },
    excludeNamespaces: ['kube-system'],
    imagePullSecrets: [{ name: 'pull' }],
    tolerations: [{ operator: 'Exists' }],
    nodeSelector: { pool: 'system' },
  },
};

const EXTERNAL = { 'coordinator.etcd.endpoints': ['https://etcd.example.com:2379'] };
const EXPORTED = { 'coordinator.snapshotExport.dir': '/var/lib/bigfleet/snapshots' };
const SECRETS = {
  'coordinator.tls.secretName': 'coordinator-leaf',
  'shard.tls.secretName': 'shard-leaf',
};
const ETCD_TLS = { ...EXTERNAL, 'coordinator.etcd.tls.secretName': 'etcd-leaf' };
const ETCD_USER = {
  ...EXTERNAL,
  'coordinator.etcd.auth.username': 'bigfleet',
  'coordinator.etcd.auth.secretName': 'etcd-password',
};

const CONTROL_PLANE: ChartCase = {
  name: 'bigfleet',
  folder: 'deploy/helm/bigfleet',
  required: {},
  programs: { coordinator: 'coordinator', shard: 'shard' },
  changes: {
    ...COMMON,
    ...CERTIFICATES,
    namespace: to('elsewhere'),
    priorityClassName: to('system-cluster-critical'),
    'coordinator.replicas': to(5),
    'coordinator.dataDir': to('/data'),
    'coordinator.storage.storageClassName': to('fast'),
    'coordinator.service.grpcPort': to(17_790),
    'coordinator.store': to('etcd'),
    'coordinator.etcd.endpoints': to(['https://a.example.com:2379', 'https://b.example.com:2379']),
    'coordinator.etcd.prefix': to('/fleet-7/', EXTERNAL),
    'coordinator.etcd.tls.secretName': to('etcd-leaf', EXTERNAL),
    'coordinator.etcd.tls.clientCertificate': to(false, ETCD_TLS),
    'coordinator.etcd.auth.username': to('somebody', ETCD_USER),
    'coordinator.etcd.auth.secretName': to('another-password', ETCD_USER),
    'coordinator.leaderLeaseTTL': to('9s'),
    'coordinator.rebalance.donorMargin': to(0.25),
    'coordinator.rebalance.minBenefit': to(0),
    'coordinator.rebalance.maxMachines': to(10),
    'coordinator.rebalance.maxOverrides': to(1_000_000),
    'coordinator.snapshotExport.dir': to('/var/lib/bigfleet/snapshots'),
    'coordinator.snapshotExport.interval': to('10m', EXPORTED),
    'coordinator.snapshotExport.retain': to(0, EXPORTED),
    'coordinator.snapshotExport.volume': to({ emptyDir: {} }, EXPORTED),
    'coordinator.tls.secretName': to('another-leaf', SECRETS),
    'shard.dataDir': to('/data'),
    'shard.storage.storageClassName': to('fast'),
    'shard.provider.addr': to('provider.example.com:9000'),
    'shard.providers': to([
      { name: 'lab', addr: 'unix:/run/bigfleet-providers/lab.sock' },
      { name: 'eu', addr: 'provider-eu.example.com:9000' },
    ]),
    'shard.providerSidecars': to([
      { name: 'plain', image: 'registry.example.com/plain:v1' },
      {
        name: 'lab',
        image: 'registry.example.com/lab:v1',
        args: ['--addr=unix:/run/bigfleet-providers/lab.sock'],
        env: [{ name: 'REGION', value: 'lab' }],
        resources: { limits: { memory: '256Mi' } },
        stateSize: '2Gi',
      },
    ]),
    'shard.maxActionsPerCycle': to(1_000_000),
    'shard.reclaimCapFraction': to(0.5),
    'shard.auditLog': to('/var/lib/bigfleet-shard/audit.jsonl'),
    'shard.epochFloor': to(41_000_000),
    'shard.tls.secretName': to('another-leaf', SECRETS),
    'shard.tls.secretNamePattern': to('leaf-of-{ordinal}', {
      ...SECRETS,
      'shard.tls.secretName': '',
      'shard.tls.secretNamePattern': 'bigfleet-shard-{ordinal}-tls',
      'shard.replicas': 3,
    }),
    'shard.tls.requireSessionCN': to(true, SECRETS),
    requireTLS: to(true, SECRETS),
    'networkPolicy.shardIngressCIDRs': to(['10.20.0.0/16', '2001:db8::/32'], POLICED),
  },
  everything: {
    ...ISSUED,
    ...POLICED,
    ...ETCD_USER,
    ...ETCD_TLS,
    ...EXPORTED,
    requireTLS: true,
    'podMonitor.enabled': true,
    'networkPolicy.shardIngressCIDRs': ['10.20.0.0/16'],
    'coordinator.etcd.endpoints': ['https://etcd-0.example.com:2379', 'https://[2001:db8::7]'],
    'coordinator.snapshotExport.dir': '/snapshots',
    'coordinator.snapshotExport.volume': { nfs: { server: 'nfs.example.com', path: '/fleet' } },
    'shard.replicas': 3,
    'shard.tls.requireSessionCN': true,
    'shard.providers': [{ name: 'lab', addr: 'unix:/run/bigfleet-providers/lab.sock' }],
    'shard.providerSidecars': [{ name: 'lab', image: 'registry.example.com/lab:v1' }],
    'shard.auditLog': '/var/lib/bigfleet-shard/audit.jsonl',
  },
};

const PROVIDER: ChartCase = {
  name: 'bigfleet-provider-template',
  folder: 'providers/_template/deploy/helm/bigfleet-provider-template',
  required: {},
  programs: {},
  changes: {
    ...COMMON,
    replicaCount: to(0),
    provider: to('lab-eu-1'),
    templateBackend: to('fake'),
    'offerings.content': to('[{"instance_type":"example-standard-4","zone":"example-zone-a"}]'),
    readinessSource: to('none'),
    'state.path': to('/data/state.json'),
    'state.persistence.storageClass': to('fast'),
    'state.persistence.accessModes': to(['ReadWriteOncePod']),
    'tls.enabled': to(true, { 'tls.secretName': 'leaf' }),
    'tls.secretName': to('another-leaf', { 'tls.enabled': true, 'tls.secretName': 'leaf' }),
    'tls.mtls': to(true, { 'tls.enabled': true, 'tls.secretName': 'leaf' }),
    requireTLS: to(true, { 'tls.enabled': true, 'tls.secretName': 'leaf', 'tls.mtls': true }),
    'serviceAccount.annotations': to({ 'identity.example.com/role': 'fleet' }),
    'service.type': to('NodePort'),
    'service.annotations': to({ 'example.com/internal': 'true' }),
    extraArgs: to(['--log-level=debug']),
    'podSecurityContext.runAsUser': to(1000),
    'podSecurityContext.runAsGroup': to(1000),
    'podSecurityContext.fsGroup': to(1000),
    'podSecurityContext.seccompProfile.type': to('Unconfined'),
    'securityContext.capabilities.drop': to(['NET_RAW']),
    podAnnotations: to({ 'example.com/team': 'fleet' }),
    podLabels: to({ 'example.com/team': 'fleet' }),
    affinity: to({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'pool', operator: 'Exists' }] }],
        },
      },
    }),
  },
  everything: {
    templateBackend: 'fake',
    provider: 'lab-eu-1',
    'podMonitor.enabled': true,
    'offerings.content': '[]',
    'tls.enabled': true,
    'tls.secretName': 'leaf',
    'tls.mtls': true,
    requireTLS: true,
  },
};

/** Core stands without providers/ (decision 22). */
const INGRESS = { 'ingress.enabled': true, 'ingress.host': 'fleet.example.com' };

const REPORTS = {
  'conformance.configMap': 'provider-reports',
  'conformance.reports': [{ provider: 'aws', key: 'aws.json' }],
};

const DASHBOARD: ChartCase = {
  name: 'bigfleet-dashboard',
  folder: 'deploy/helm/bigfleet-dashboard',
  required: {},
  programs: { dashboard: 'dashboard' },
  changes: {
    ...COMMON,
    ...CERTIFICATES,
    namespace: to('elsewhere'),
    coordinatorAddress: to('a:7790,b:7790'),
    shards: to([{ id: 'shard-0', address: 'shard.example.com:7780' }]),
    rackLabels: to(['topology.example.com/rack']),
    teams: to([{ team: 'Search & ads', clusters: 'search-*' }]),
    'conformance.configMap': to('other-reports', REPORTS),
    'conformance.reports': to([{ provider: 'gcp', key: 'gcp.json' }], REPORTS),
    'tls.secretName': to('reader-leaf'),
    requireTLS: to(true, { 'tls.secretName': 'reader-leaf' }),
    'ingress.enabled': to(true, { 'ingress.host': 'fleet.example.com' }),
    'ingress.className': to('internal', INGRESS),
    'ingress.host': to('other.example.com', INGRESS),
    'ingress.annotations': to({ 'example.com/auth': 'sso' }, INGRESS),
    'ingress.tlsSecretName': to('fleet-example', INGRESS),
    'networkPolicy.proxyNamespace': to('proxy', POLICED),
    'networkPolicy.ports': to([17780], POLICED),
    priorityClassName: to('dashboards'),
  },
  everything: {
    ...ISSUED,
    ...POLICED,
    ...INGRESS,
    requireTLS: true,
    simulated: true,
    'podMonitor.enabled': true,
    'ingress.tlsSecretName': 'fleet-example',
    shards: [{ id: 'shard-0', address: 'shard:7780' }],
    rackLabels: ['topology.example.com/rack'],
    teams: [{ team: 'everybody', clusters: '*' }],
    ...REPORTS,
    imagePullSecrets: [{ name: 'pull' }],
    tolerations: [{ operator: 'Exists' }],
    nodeSelector: { pool: 'system' },
  },
};

export const CHARTS: readonly ChartCase[] = [
  CONTROL_PLANE,
  OPERATOR,
  POD_CONTROLLER,
  DASHBOARD,
  ...(existsSync(path.join(ROOT, PROVIDER.folder)) ? [PROVIDER] : []),
];

/** Its required values, and everything that goes together. */
export function everythingOf({ required, everything }: ChartCase): Values {
  return nested({ ...required, ...everything });
}

export function chartOf(name: string): ChartCase {
  const found = CHARTS.find((chart) => chart.name === name);
  if (found === undefined) throw new Error(`no chart ${name}`);
  return found;
}

export interface Variant {
  readonly path: string;
  readonly before: Values;
  readonly after: Values;
}

/** One per value of values.yaml; throws for a value that nobody knows a change of. */
export function variantsOf({ folder, required, changes }: ChartCase): Variant[] {
  const defaults = defaultsOf(folder);
  const leaves = leavesOf(defaults, '');
  const stray = Object.keys(changes).filter((name) => !leaves.has(name) && !isShared(name));
  if (stray.length > 0) throw new Error(`${folder} has no value ${stray.join(', ')}`);
  return [...leaves].map(([name, fallback]) => {
    const { to: value, given } = changes[name] ?? obviousChange(name, fallback);
    const before = { ...required, ...given };
    return { path: name, before: nested(before), after: nested({ ...before, [name]: value }) };
  });
}

/** Charts share the rows of COMMON, and not every chart has all of them. */
function isShared(name: string): boolean {
  return name in COMMON;
}

export function defaultsOf(folder: string): Values {
  const parsed = parseYaml(readFileSync(path.resolve(ROOT, folder, 'values.yaml'), 'utf8'));
  if (!parsed.ok || !isMapping(parsed.value))
    throw new Error(`${folder}/values.yaml is no mapping`);
  return parsed.value;
}

function leavesOf(values: Values, above: string): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  for (const [key, value] of Object.entries(values)) {
    const name = above === '' ? key : `${above}.${key}`;
    const isBranch = isMapping(value) && Object.keys(value).length > 0;
    if (isBranch) for (const each of leavesOf(value, name)) leaves.set(...each);
    else leaves.set(name, value);
  }
  return leaves;
}

/** Switches are thrown; numbers, quantities and durations count one up. */
function obviousChange(name: string, fallback: unknown): Change {
  if (typeof fallback === 'boolean') return { to: !fallback };
  if (typeof fallback === 'number') return { to: fallback + 1 };
  const counted = typeof fallback === 'string' ? /^(\d+)([A-Za-z]*)$/.exec(fallback) : null;
  if (counted === null)
    throw new Error(`which change of ${name} must be seen? Add it to the table`);
  return { to: `${Number(counted[1]) + 1}${counted[2]}` };
}
