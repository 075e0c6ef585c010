// The real kwok: thousands of Nodes that are alive and run what the scheduler gives them, at the cost of one process.
// It takes the Nodes that carry its annotation, and leaves all others to their kubelets.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { http, leasePort, type RunningProcess, startProcess } from '../toolkit/index.ts';
import { kubePrograms } from './binaries.ts';
import type { ControlPlane } from './control-plane.ts';

export const KWOK_ANNOTATION: Readonly<Record<string, string>> = { 'kwok.x-k8s.io/node': 'fake' };
/** Renewed four times as often. A quarter of it is far below any grace that a test gives to nodes. */
const LEASE_SECONDS = 160;

/** Ended with the scope. */
export async function startKwok(
  plane: Pick<ControlPlane, 'folder' | 'adminKubeconfig'>,
): Promise<RunningProcess> {
  const config = join(plane.folder, 'kwok.yaml');
  // JSON is YAML.
  writeFileSync(config, STAGES.map((stage) => JSON.stringify(stage)).join('\n---\n'));
  await using stack = new AsyncDisposableStack();
  const { port } = stack.use(await leasePort());
  const [annotation] = Object.entries(KWOK_ANNOTATION).map((pair) => pair.join('='));
  return await startProcess({
    name: 'kwok',
    command: kubePrograms('kwok').kwok,
    // A configuration of this machine's owner is none of the test's.
    env: { HOME: plane.folder },
    logFile: join(plane.folder, 'kwok.log'),
    args: [
      `--config=${config}`,
      `--kubeconfig=${plane.adminKubeconfig}`,
      `--manage-nodes-with-annotation-selector=${annotation}`,
      `--node-lease-duration-seconds=${LEASE_SECONDS}`,
      `--server-address=127.0.0.1:${port}`,
    ],
    ready: {
      kind: 'check',
      check: async () => (await http({ url: `http://127.0.0.1:${port}/healthz` })).status === 200,
    },
  });
}

function stage(name: string, kind: 'Node' | 'Pod', matchExpressions: object[], next: object) {
  return {
    apiVersion: 'kwok.x-k8s.io/v1alpha1',
    kind: 'Stage',
    metadata: { name },
    spec: { resourceRef: { apiGroup: 'v1', kind }, selector: { matchExpressions }, next },
  };
}

const TERMINATING = '.metadata.deletionTimestamp';
const READY = '.status.conditions.[] | select( .type == "Ready" ) | .status';
const NODE_STATUS = `
conditions:
{{ range NodeConditions }}
- lastHeartbeatTime: {{ Now | Quote }}
  lastTransitionTime: {{ Now | Quote }}
  message: {{ .message | Quote }}
  reason: {{ .reason | Quote }}
  status: {{ .status | Quote }}
  type: {{ .type | Quote }}
{{ end }}
`;
const POD_STATUS = `
phase: Running
startTime: {{ Now | Quote }}
conditions:
- lastTransitionTime: {{ Now | Quote }}
  status: "True"
  type: Ready
`;

/** kwok alone has none. Its leases are a Node's heartbeat. */
const STAGES = [
  stage('node-ready', 'Node', [{ key: READY, operator: 'NotIn', values: ['True'] }], {
    statusTemplate: NODE_STATUS,
  }),
  stage(
    'pod-running',
    'Pod',
    [
      { key: TERMINATING, operator: 'DoesNotExist' },
      { key: '.status.phase', operator: 'In', values: ['Pending'] },
    ],
    { statusTemplate: POD_STATUS },
  ),
  stage('pod-gone', 'Pod', [{ key: TERMINATING, operator: 'Exists' }], { delete: true }),
];
