// Where everything of the demo is: its clusters, the zones of its machines as the workload catalogue names
// them, and the ports of the specification, with a look at each before anything is started: a child that
// dies of a busy port says so in a log file, where a newcomer does not look. The zones are spelt out here,
// because the provider's process must not load the simulator; a test keeps the two equal.

import net from 'node:net';

export const ZONES: readonly string[] = ['zone-a', 'zone-b', 'zone-c'];

/** The zones of each shard. The others, of which there are none, are the provider's home shard's. */
export const ZONES_OF_SHARD: Readonly<Record<ShardName, readonly string[]>> = {
  'shard-0': ['zone-a', 'zone-b'],
  'shard-1': ['zone-c'],
};

export type ShardName = 'shard-0' | 'shard-1';
export const SHARDS: readonly ShardName[] = ['shard-0', 'shard-1'];

/** Each has a control plane of its own. */
export type ClusterName = 'web-eu' | 'batch-us' | 'train-us';
export const CLUSTERS: readonly ClusterName[] = ['web-eu', 'batch-us', 'train-us'];

export const SHARD_OF_CLUSTER: Readonly<Record<ClusterName, ShardName>> = {
  'web-eu': 'shard-0',
  'batch-us': 'shard-1',
  'train-us': 'shard-0',
};

/** The cluster that somebody brings along with `make up KUBECONFIG=…`, and its shard. */
export const JOINED = 'joined';
export const SHARD_OF_JOINED: ShardName = 'shard-0';

/** Owned by the second shard and wanted by a cluster of the first: what is moved in the demo. */
export const METAL_TYPE = 'm7i.metal-24xl';
export const METAL_ZONE = 'zone-c';

/** The provider's label: the ids of its machines begin with it. */
export const PROVIDER = 'simulated';

export function isSimulated(machineId: string): boolean {
  return machineId.startsWith(`${PROVIDER}/`);
}

/** `spec.providerID` of a machine's Node. */
export function providerIdOf(machineId: string): string {
  return `${PROVIDER}://${machineId}`;
}

export function isSimulatedNode(providerId: string): boolean {
  return providerId.startsWith(`${PROVIDER}://`);
}

/** The label that gangs stay together by. */
export const RACK_KEY = 'topology.bigfleet/rack';

export const portNames = [
  'shard',
  'shard-metrics',
  'second-shard',
  'second-shard-metrics',
  'coordinator',
  'coordinator-metrics',
  'provider',
  'provider-metrics',
  'web-eu',
  'batch-us',
  'train-us',
  'web-eu-operator',
  'batch-us-operator',
  'train-us-operator',
  'joined-operator',
] as const;
export type PortName = (typeof portNames)[number];
export type Ports = Readonly<Record<PortName, number>>;

export const HOST = '127.0.0.1';

export const defaultPorts: Ports = {
  shard: 7780,
  'shard-metrics': 8780,
  'second-shard': 7781,
  'second-shard-metrics': 8781,
  coordinator: 7790,
  'coordinator-metrics': 8790,
  provider: 9000,
  'provider-metrics': 9090,
  'web-eu': 16443,
  'batch-us': 16444,
  'train-us': 16445,
  'web-eu-operator': 8770,
  'batch-us-operator': 8771,
  'train-us-operator': 8772,
  'joined-operator': 8773,
};

/** Where the metrics and probes of a cluster's operator are. */
export function operatorPort(cluster: ClusterName | typeof JOINED): PortName {
  return `${cluster}-operator`;
}

/** From one default port to none of the others. */
const OTHER_PORT_STEP = 10_000;

/** The variable of `make up` that changes it. */
export function portVariable(name: PortName): string {
  return `${name.replaceAll('-', '_').toUpperCase()}_PORT`;
}

/** What to tell the person, one line per port that can't be had. */
export async function portProblems(ports: Ports): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const name of portNames) {
    const code = await listenFailure(ports[name]);
    if (code !== undefined) problems.push(problemOf(name, ports[name], code));
  }
  return problems;
}

function problemOf(name: PortName, port: number, code: string): string {
  const variable = portVariable(name);
  const other = port < 50_000 ? port + OTHER_PORT_STEP : port - OTHER_PORT_STEP;
  const why = code === 'EADDRINUSE' ? 'is in use' : `cannot be opened (${code})`;
  const hint =
    code === 'EADDRINUSE' ? `stop what listens there (ss -ltnp sport = :${port}), or ` : '';
  return `port ${port} (${name}) ${why}: ${hint}choose another one: make up ${variable}=${other}`;
}

/** The error code of listening there, undefined when it works. */
function listenFailure(port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const server = net.createServer();
  server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  server.listen({ host: HOST, port, exclusive: true }, () =>
    server.close(() => resolve(undefined)),
  );
  return promise;
}
