// Pods and CapacityRequests as a busy cluster has them, drawn from a seed. A Pod carries what real ones
// do and what a reflector drops at once: managed fields, environment, mounts, tolerations, conditions.

import type { Random } from '@bigfleet/base';
import type { CapacityRequestSpec } from '@bigfleet/kube';

const ZONES = ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'];
const NAMESPACES = ['default', 'kube-system'];
const APP_COUNT = 400;
const SHAPES = [
  ['250m', '512Mi'],
  ['500m', '1Gi'],
  ['1', '2Gi'],
  ['2', '8Gi'],
  ['4', '16Gi'],
  ['7500m', '60Gi'],
] as const;

export interface DrawnPod {
  readonly namespace: string;
  readonly object: Readonly<Record<string, unknown>>;
}

export function drawPod(random: Random, index: number): DrawnPod {
  const app = random.below(APP_COUNT);
  const [cpu, memory] = SHAPES[app % SHAPES.length] ?? SHAPES[0];
  const namespace = NAMESPACES[app % NAMESPACES.length] ?? '';
  const hash = app.toString(36).padStart(10, 'x');
  const labels = {
    app: `app-${app}`,
    'app.kubernetes.io/name': `app-${app}`,
    'app.kubernetes.io/managed-by': 'Helm',
    'pod-template-hash': hash,
    team: `team-${app % 40}`,
  };
  const container = (name: string): object => ({
    name,
    image: `registry.example.org/team-${app % 40}/${name}:1.${app % 30}.${random.below(20)}`,
    env: Array.from({ length: 8 }, (_, at) => ({
      name: `SETTING_${at}`,
      value: `value-${random.below(1_000_000)}-of-app-${app}`,
    })),
    resources: { requests: { cpu, memory }, limits: { memory } },
    volumeMounts: [
      { name: 'config', mountPath: '/etc/app', readOnly: true },
      { name: 'kube-api-access', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
    ],
    livenessProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 10 },
    readinessProbe: { httpGet: { path: '/readyz', port: 8080 }, periodSeconds: 5 },
  });
  return {
    namespace,
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `app-${app}-${hash}-${index.toString(36).padStart(5, '0')}`,
        labels,
        annotations: {
          'checksum/config': random.uint32().toString(16).padStart(64, '0'),
          'prometheus.io/scrape': 'true',
          'prometheus.io/port': '9090',
        },
      },
      spec: {
        containers: [container('main'), container('proxy')],
        nodeSelector: { 'topology.kubernetes.io/zone': ZONES[app % ZONES.length] },
        tolerations: [
          { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
          { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
        ],
        volumes: [{ name: 'config', configMap: { name: `app-${app}` } }],
      },
    },
  };
}

const SHAPE_COUNT = 12;
const PENALTIES = ['0', '0.5', '4', '32'] as const;

/** The spec of one of a few hundred kinds of workload, as a cluster's roll-up sees them. */
export function drawSpec(random: Random, keyCount: number): CapacityRequestSpec {
  const kind = random.below(keyCount);
  const shape = random.below(SHAPE_COUNT);
  return {
    priority: (kind % 5) * 100,
    resources: { cpu: `${250 * (1 + shape)}m`, memory: `${512 << (shape % 6)}Mi` },
    requirements: [
      { key: 'topology.kubernetes.io/zone', operator: 'In', values: [ZONES[kind % 3] ?? ''] },
      { key: 'team', operator: 'In', values: [`team-${kind}`] },
    ],
    interruptionPenalty: PENALTIES[kind % PENALTIES.length],
  };
}

export function requestName(index: number): string {
  return `cr-${String(index).padStart(6, '0')}`;
}
