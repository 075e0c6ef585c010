// Every process of BigFleet at once, over real sockets: coordinator, provider, shard, and the operator
// and pod controller of a cluster with a test API server. One Pod has become a machine that serves, and
// another one waits for a machine that nobody has.

import path from 'node:path';
import {
  type ClusterProcess,
  start as startClusterProcess,
} from '../operator/cluster-processes.ts';
import { KubeApi, PATHS } from '../operator/kube-api.ts';
import { startProvider } from '../provider/child.ts';
import { startShardProcess } from '../shard/shard-process.ts';
import { leasePorts, type ScrapeTarget, startProcess } from '../toolkit/index.ts';

const MAIN = path.join(import.meta.dirname, '../../packages/cli/src/main.ts');
const SERVING = / msg="metrics serving" .* addr=(\S+)/;

export interface RunningFleet extends AsyncDisposable {
  /** Under the jobs that the charts give them. */
  readonly scrape: readonly ScrapeTarget[];
  /** Resolves when a Pod has got its machine and another one is short. */
  load(): Promise<void>;
}

export async function startRunningFleet(dir: string): Promise<RunningFleet> {
  await using stack = new AsyncDisposableStack();
  const [coordinatorPort, coordinatorMetricsPort] = await leasePorts(2);
  if (coordinatorPort === undefined || coordinatorMetricsPort === undefined)
    throw new Error('ports');
  stack.use(coordinatorPort);
  stack.use(coordinatorMetricsPort);
  const coordinator = `127.0.0.1:${coordinatorPort.port}`;
  const coordinatorMetrics = `127.0.0.1:${coordinatorMetricsPort.port}`;
  const [provider, api] = await Promise.all([
    startProvider([
      '--addr=127.0.0.1:0',
      '--seed-count=8',
      `--state=${path.join(dir, 'provider')}`,
    ]),
    new KubeApi().start(),
    startCoordinator(dir, coordinator, coordinatorMetrics).then((each) => stack.use(each)),
  ]);
  stack.use(provider);
  stack.use(api);
  const shard = stack.use(
    await startShardProcess([
      '--id=shard-0',
      `--data-dir=${path.join(dir, 'shard')}`,
      `--provider=lab=${provider.address}`,
      `--coordinator-addr=${coordinator}`,
      '--coordinator-heartbeat-interval=1s',
    ]),
  );
  const [operator, controller] = await Promise.all([
    startClusterProcess('operator', [
      '--cluster-id=prod-eu',
      `--shard-addr=${shard.address}`,
      `--kubeconfig=${api.kubeconfig}`,
      '--rollup-interval=500ms',
    ]),
    startClusterProcess('pod-controller', [`--kubeconfig=${api.kubeconfig}`]),
  ]);
  stack.use(operator);
  stack.use(controller);
  const scrape = [
    { job: 'bigfleet-shard', targets: [shard.metricsAddress] },
    { job: 'bigfleet-coordinator', targets: [coordinatorMetrics] },
    { job: 'bigfleet-provider-test', targets: [provider.metricsAddress] },
    { job: 'bigfleet-operator', targets: [await metricsAddressOf(operator)] },
    {
      job: 'bigfleet-unschedulable-pod-controller',
      targets: [await metricsAddressOf(controller)],
    },
  ];
  const owned = stack.move();
  return {
    scrape,
    load: () => load(api),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function startCoordinator(
  dir: string,
  listen: string,
  metrics: string,
): ReturnType<typeof startProcess> {
  return startProcess({
    name: 'coordinator',
    command: process.execPath,
    args: [
      MAIN,
      'coordinator',
      '--bootstrap',
      `--data-dir=${path.join(dir, 'coordinator')}`,
      `--listen=${listen}`,
      `--metrics-addr=${metrics}`,
      `--snapshot-export-dir=${path.join(dir, 'snapshots')}`,
      '--snapshot-export-interval=1s',
    ],
    ready: { kind: 'http', url: `http://${metrics}/readyz` },
  });
}

async function metricsAddressOf({ process: child }: ClusterProcess): Promise<string> {
  const [, address = ''] = await child.waitForLine(SERVING);
  return address;
}

async function load(api: KubeApi): Promise<void> {
  api.pod('web');
  await api.eventually('a machine serves', PATHS.upcomingNodes, (nodes) =>
    nodes.some(({ status }) => status?.['phase'] === 'Ready'),
  );
  api.request('nowhere', {
    requirements: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: ['nowhere'] }],
  });
  await api.eventually(
    'all demand has arrived',
    PATHS.requests,
    (requests) =>
      requests.length === 2 && requests.every(({ status }) => status?.['phase'] === 'Acknowledged'),
  );
}
