// A coordinator with literal data behind real gRPC: what the verbs print is checked against it, and
// what they ask is kept. Behaviour is the real coordinator's business.

import { realRuntime } from '@bigfleet/base/real';
import {
  Coordinator,
  CoordinatorAdmin,
  createGrpcServer,
  type Gate,
  type Handlers,
  openGate,
  Router,
  RpcError,
  SnapshotFormat,
  type TlsMaterial,
  TransferRecordPhase,
} from '@bigfleet/wire';
import { NOW_UNIX_NANOS } from './run-ctl.ts';

const SECOND = 1_000_000_000n;
const HOUR: bigint = 3_600n * SECOND;

export interface FakeShard {
  readonly shardId: string;
  readonly address: string;
  readonly heartbeatAgeSeconds?: bigint;
}

export interface FakeCoordinatorOptions {
  readonly shards?: readonly FakeShard[];
  readonly tls?: TlsMaterial;
  readonly gate?: Gate;
  /** What stands before every handler: a follower's redirect. */
  readonly precheck?: () => RpcError | undefined;
  /** Answers UNIMPLEMENTED for everything of ours. */
  readonly isOld?: boolean;
  readonly snapshot?: { readonly meta: string; readonly data: readonly string[] };
  readonly providers?: readonly { readonly name: string; readonly address: string }[];
}

export interface FakeCoordinator extends AsyncDisposable {
  readonly address: string;
  /** What was asked, oldest first, requests as JSON. */
  readonly calls: string[];
}

const DEFAULT_SHARDS: readonly FakeShard[] = [
  { shardId: 'shard-0', address: 'shard-0.shards:7780', heartbeatAgeSeconds: 4n },
  { shardId: 'shard-1', address: 'shard-1.shards:7780', heartbeatAgeSeconds: 400n },
  { shardId: 'shard-2', address: 'shard-2.shards:7780' },
];

export async function startFakeCoordinator(
  options: FakeCoordinatorOptions = {},
): Promise<FakeCoordinator> {
  const calls: string[] = [];
  const router = new Router({
    gate: options.gate ?? openGate,
    ...(options.precheck === undefined ? {} : { precheck: options.precheck }),
  });
  router.add(Coordinator, coordinatorHandlers(options, calls));
  if (options.isOld !== true) router.add(CoordinatorAdmin, adminHandlers(calls));
  const server = createGrpcServer({
    runtime: realRuntime(),
    router,
    listen: ['127.0.0.1:0'],
    stopGraceMs: 100,
    ...(options.tls === undefined ? {} : { tls: options.tls }),
  });
  const [address = ''] = await server.bind();
  return { address, calls, [Symbol.asyncDispose]: () => server.stop() };
}

function note(calls: string[], name: string, request: object): void {
  const { $typeName: _, ...fields } = request as { $typeName: string };
  calls.push(`${name} ${JSON.stringify(fields)}`);
}

function coordinatorHandlers(
  options: FakeCoordinatorOptions,
  calls: string[],
): Handlers<typeof Coordinator> {
  const unused = async (): Promise<never> => {
    throw new RpcError('INTERNAL', 'no client of this kind in this test');
  };
  return {
    reportShard: unused,
    joinRaftCluster: unused,
    assignDomain: async (request) => {
      note(calls, 'assignDomain', request);
      if (request.shardId === 'shard-9') {
        throw new RpcError('NOT_FOUND', 'shard shard-9 is not registered');
      }
      return {};
    },
    unassignDomain: async (request) => {
      note(calls, 'unassignDomain', request);
      return {};
    },
    removeShard: async (request) => {
      note(calls, 'removeShard', request);
      return {};
    },
    listShards: async () => ({ shards: (options.shards ?? DEFAULT_SHARDS).map(registryEntry) }),
    listDomainAssignments: async () => ({
      assignments: [
        domain('eu-west-1a', 'shard-0', false),
        domain('eu-west-1b', 'shard-0', true),
        domain('eu-west-1c', 'shard-1', false),
      ],
    }),
    listQuotas: async () => ({
      allocations: [
        { provider: 'aws-eu', region: 'eu-west-1', perShard: { 'shard-1': 200, 'shard-0': 300 } },
        { provider: 'lab', region: 'lab', perShard: { 'shard-1': 40 } },
      ],
    }),
    listProviders: async () => ({
      providers: (
        options.providers ?? [
          { name: 'aws-eu', address: 'provider-aws.bigfleet:9000' },
          { name: 'lab', address: '10.0.0.7:9000' },
        ]
      ).map(({ name, address }, at) => ({
        name,
        address,
        region: at === 0 ? 'eu-west-1' : 'lab',
        declaredQuota: at === 0 ? 500 : 0,
        shards: at === 0 ? [] : ['shard-1'],
      })),
    }),
    listShardReports: async ({ shardId }) => ({
      reports: shardReports().filter((report) => shardId === '' || report.shardId === shardId),
    }),
    snapshotSave: async function* ({ format }) {
      calls.push(`snapshotSave ${format === SnapshotFormat.LOGICAL ? 'logical' : 'native'}`);
      const { meta, data } = options.snapshot ?? { meta: '{}', data: [] };
      yield { payload: { case: 'metaJson', value: Buffer.from(meta) } };
      for (const part of data) yield { payload: { case: 'data', value: Buffer.from(part) } };
    },
  };
}

function adminHandlers(calls: string[]): Handlers<typeof CoordinatorAdmin> {
  return {
    setQuota: async (request) => {
      note(calls, 'setQuota', request);
      return {};
    },
    registerProvider: async (request) => {
      note(calls, 'registerProvider', request);
      return {};
    },
    deregisterProvider: async (request) => {
      note(calls, 'deregisterProvider', request);
      if (!request.force) {
        throw new RpcError('ABORTED', 'provider in use by shard-1: 12 machines');
      }
      return {};
    },
    bindCluster: async (request) => {
      note(calls, 'bindCluster', request);
      if (!request.force && request.clusterId === 'prod-eu') {
        throw new RpcError('ALREADY_EXISTS', 'cluster prod-eu is bound to shard-0');
      }
      return {};
    },
    unbindCluster: async (request) => {
      note(calls, 'unbindCluster', request);
      return {};
    },
    listClusterBindings: async ({ shardId }) => ({
      bindings: [
        binding('lab', 'shard-1', 'shard-0'),
        binding('prod-eu', 'shard-0', ''),
        binding('prod-us', 'shard-1', ''),
      ].filter((each) => shardId === '' || each.shardId === shardId),
    }),
    listTransfers: async ({ includeClosed }) => ({
      transfers: transfers().filter(
        ({ phase }) => includeClosed || phase !== TransferRecordPhase.DONE,
      ),
    }),
    getStatus: async () => ({
      nodeId: 'node-1',
      isLeader: true,
      leaderNodeId: 'node-1',
      leaderAddress: 'node-1.coordinator:7790',
      coordinatorTerm: 7n,
      storeRaftTerm: 12n,
      applyIndex: 90_210n,
      storeEngine: 'etcd',
      replicas: ['node-1', 'node-2', 'node-3'],
      clusterUid: 'fleet-1f3a',
      pendingInstructions: { 'shard-2': 1, 'shard-1': 3, 'shard-0': 0 },
      version: '0.1.0',
    }),
  };
}

function registryEntry({ shardId, address, heartbeatAgeSeconds }: FakeShard): {
  shardId: string;
  address: string;
  registeredAtUnixNs: bigint;
  lastHeartbeatUnixNs: bigint;
} {
  return {
    shardId,
    address,
    registeredAtUnixNs: NOW_UNIX_NANOS - 30n * HOUR,
    lastHeartbeatUnixNs:
      heartbeatAgeSeconds === undefined ? 0n : NOW_UNIX_NANOS - heartbeatAgeSeconds * SECOND,
  };
}

function domain(
  topologyValue: string,
  shardId: string,
  releasing: boolean,
): { topologyKey: string; topologyValue: string; shardId: string; releasing: boolean } {
  return { topologyKey: 'topology.kubernetes.io/zone', topologyValue, shardId, releasing };
}

function binding(
  clusterId: string,
  shardId: string,
  conflictingShardId: string,
): { clusterId: string; shardId: string; boundAtUnixNs: bigint; conflictingShardId: string } {
  return { clusterId, shardId, boundAtUnixNs: NOW_UNIX_NANOS - 48n * HOUR, conflictingShardId };
}

function shardReports(): {
  shardId: string;
  cycle: bigint;
  receivedAtUnixNs: bigint;
  summary: object;
  shortfalls: object[];
}[] {
  return [
    {
      shardId: 'shard-0',
      cycle: 8_211n,
      receivedAtUnixNs: NOW_UNIX_NANOS - 4n * SECOND,
      summary: {
        totalMachines: 1_204,
        freeMachines: 320,
        idleMachines: 20,
        perInstanceTypeCounts: { 'm6i.large': 1_000, 'a3-highgpu-8g': 204 },
        perZoneCounts: { 'eu-west-1b': 604, 'eu-west-1a': 600 },
        providers: [{ name: 'aws-eu', source: 'registry' }],
      },
      shortfalls: [{ priority: 1_000 }, { priority: 10 }],
    },
    {
      shardId: 'shard-1',
      cycle: 77n,
      receivedAtUnixNs: NOW_UNIX_NANOS - 400n * SECOND,
      summary: {
        totalMachines: 40,
        providers: [{ name: 'lab', source: 'flag' }],
      },
      shortfalls: [],
    },
  ];
}

function transfers(): {
  transferId: string;
  fromShardId: string;
  toShardId: string;
  phase: (typeof TransferRecordPhase)[keyof typeof TransferRecordPhase];
  machineIds: string[];
  tier: number;
  reasonCode: string;
  createdAtUnixNs: bigint;
  updatedAtUnixNs: bigint;
  providerAddress: string;
}[] {
  const common = {
    fromShardId: 'shard-0',
    toShardId: 'shard-1',
    tier: 1,
    reasonCode: 'rebalance.idle',
    providerAddress: 'provider-aws.bigfleet:9000',
  };
  return [
    {
      ...common,
      transferId: 't-0042',
      phase: TransferRecordPhase.COMMITTED,
      machineIds: ['i-01', 'i-02', 'i-03'],
      createdAtUnixNs: NOW_UNIX_NANOS - 65n * SECOND,
      updatedAtUnixNs: NOW_UNIX_NANOS - 5n * SECOND,
    },
    {
      ...common,
      transferId: 't-0041',
      phase: TransferRecordPhase.DONE,
      machineIds: ['i-09'],
      createdAtUnixNs: NOW_UNIX_NANOS - 2n * HOUR,
      updatedAtUnixNs: NOW_UNIX_NANOS - 2n * HOUR,
    },
  ];
}
