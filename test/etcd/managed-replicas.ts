// Three coordinators' storage sides with managed etcd, as the process wires them: child etcd, store,
// membership loops, and `JoinRaftCluster` answered by whoever leads. Only the RPC in between is left
// out: a join goes to the leading replica's handler directly, and is refused when nobody leads.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { realRuntime } from '@bigfleet/base/real';
import {
  EtcdClient,
  EtcdStore,
  handleJoin,
  type JoinAnswer,
  type ManagedEtcd,
  type ManagedEtcdEvent,
  type ManagedEtcdOptions,
  promoteLearners,
  reconcileSelf,
  startManagedEtcd,
} from '@bigfleet/coordinator/etcd';
import {
  HANG_MS,
  createTempDir,
  eventually,
  leasePort,
  type PortLease,
  type TempDir,
} from '../toolkit/index.ts';
import { etcdBinaries } from './binaries.ts';
import assert from 'node:assert/strict';
import { gateway } from './gateway.ts';

const runtime = realRuntime();
type PeerTls = NonNullable<ManagedEtcdOptions['peerTls']>;
type Leadership = Awaited<ReturnType<EtcdStore['campaign']>>;

export class ManagedReplica {
  readonly nodeId: string;
  readonly events: ManagedEtcdEvent[] = [];
  readonly #fleet: ManagedReplicas;
  readonly #ports: readonly PortLease[];
  #stop = new AbortController();
  #etcd: ManagedEtcd | undefined;
  #store: EtcdStore | undefined;
  #client: EtcdClient | undefined;
  #leadership: Leadership | undefined;
  #loops: Promise<unknown>[] = [];

  constructor(fleet: ManagedReplicas, nodeId: string, ports: readonly PortLease[]) {
    this.#fleet = fleet;
    this.nodeId = nodeId;
    this.#ports = ports;
  }

  get dataDir(): string {
    return join(this.#fleet.path, this.nodeId);
  }

  get peerAddress(): string {
    return `127.0.0.1:${this.#ports[1]?.port}`;
  }

  get clientUrl(): string {
    return `http://127.0.0.1:${this.#ports[0]?.port}`;
  }

  get store(): EtcdStore {
    if (this.#store === undefined) throw new Error(`${this.nodeId} is not started`);
    return this.#store;
  }

  get leadership(): Leadership | undefined {
    return this.#leadership?.lost.aborted === true ? undefined : this.#leadership;
  }

  async start(options: { bootstrap: boolean; restoreFile?: string }): Promise<void> {
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const clientAddress = `127.0.0.1:${this.#ports[0]?.port}`;
    this.#etcd = await startManagedEtcd(
      {
        runtime,
        binary: etcdBinaries().etcd,
        nodeId: this.nodeId,
        dataDir: this.dataDir,
        clientAddress,
        peerBind: this.peerAddress,
        peerAdvertise: this.peerAddress,
        bootstrap: options.bootstrap,
        probeForMs: 300,
        ...(this.#fleet.peerTls === undefined ? {} : { peerTls: this.#fleet.peerTls }),
        port: this.#fleet.portOf(this),
        onEvent: (event) => this.events.push(event),
      },
      signal,
    );
    const { formation, endpoint, peerUrl } = this.#etcd;
    this.#client = new EtcdClient({ runtime, endpoints: [endpoint] });
    this.#store = new EtcdStore({
      runtime,
      client: this.#client,
      nodeId: this.nodeId,
      grpcAddress: `${this.nodeId}:7790`,
      peerAddress: this.peerAddress,
      version: 'test',
      bootstrap: options.bootstrap && formation === 'bootstrap',
      holdsNodeLock: true,
      ...(options.restoreFile === undefined ? {} : { restoreFile: options.restoreFile }),
    });
    const { store } = this;
    await eventually(() => store.open().then(() => true), {
      what: `${this.nodeId} open`,
      details: () => this.events.map((event) => JSON.stringify(event)).join('\n'),
    });
    this.#loops = [
      this.#lead(signal),
      reconcileSelf(
        {
          runtime,
          client: this.#client,
          nodeId: this.nodeId,
          peerUrl,
          port: this.#fleet.portOf(this),
          observesLeader: async () => (await store.leader()) !== undefined,
          ownClusterUid: () => store.localClusterUid(),
        },
        signal,
      ),
    ];
  }

  async #lead(signal: AbortSignal): Promise<void> {
    try {
      this.#leadership = await this.store.campaign(signal);
      const client = this.#client;
      const presentNodeIds = async (): Promise<ReadonlySet<string>> =>
        new Set((await this.store.status()).replicas);
      if (client !== undefined) {
        await promoteLearners({ runtime, client, presentNodeIds }, this.#leadership.lost);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  join(nodeId: string, peerAddress: string, isFresh: boolean): Promise<JoinAnswer> {
    const client = this.#client;
    if (client === undefined) throw new Error('not started');
    return this.#answer(client, nodeId, peerAddress, isFresh);
  }

  async #answer(
    client: EtcdClient,
    nodeId: string,
    peerAddress: string,
    isFresh: boolean,
  ): Promise<JoinAnswer> {
    const { replicas, clusterUid } = await this.store.status();
    const result = await handleJoin(
      { client, presentNodeIds: new Set(replicas), limits: { deadlineMs: HANG_MS } },
      { nodeId, peerUrl: `${this.#scheme}://${peerAddress}`, isFresh },
    );
    if (result.kind === 'refused') throw new Error(result.message);
    return { clusterUid, initialCluster: result.initialCluster, memberId: result.memberId };
  }

  get #scheme(): string {
    return this.#fleet.peerTls === undefined ? 'http' : 'https';
  }

  /** The pid of its etcd, as the supervisor wrote it down. */
  async etcdPid(): Promise<number> {
    const parsed: unknown = JSON.parse(await readFile(join(this.dataDir, 'etcd.pid'), 'utf8'));
    return Number((parsed as { pid?: unknown }).pid);
  }

  async stop(): Promise<void> {
    if (this.leadership !== undefined) await this.store.resign(this.leadership);
    this.#stop.abort(new Error('stopped'));
    await Promise.allSettled(this.#loops);
    await this.#store?.close();
    await this.#etcd?.stop();
  }

  async release(): Promise<void> {
    for (const lease of this.#ports) await lease.release();
  }
}

export class ManagedReplicas implements AsyncDisposable {
  readonly #dir: TempDir = createTempDir('managed');
  readonly #replicas: ManagedReplica[] = [];
  /** Of every replica: they share one certificate. */
  readonly peerTls: PeerTls | undefined;

  constructor(peerTls?: PeerTls) {
    this.peerTls = peerTls;
  }

  get path(): string {
    return this.#dir.path;
  }

  async add(nodeId: string): Promise<ManagedReplica> {
    const replica = new ManagedReplica(this, nodeId, [await leasePort(), await leasePort()]);
    this.#replicas.push(replica);
    return replica;
  }

  leader(): ManagedReplica | undefined {
    return this.#replicas.find(({ leadership }) => leadership !== undefined);
  }

  portOf({ nodeId, peerAddress }: ManagedReplica): {
    join: (isFresh: boolean) => Promise<JoinAnswer>;
    clusterUid: () => Promise<string | undefined>;
  } {
    const leading = (): ManagedReplica => {
      const leader = this.leader();
      if (leader === undefined) throw new Error('nobody leads');
      return leader;
    };
    return {
      join: async (isFresh) => leading().join(nodeId, peerAddress, isFresh),
      clusterUid: async () => (await leading().store.status()).clusterUid,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#replicas.map((replica) => replica.stop()));
    await Promise.all(this.#replicas.map((replica) => replica.release()));
    await this.#dir.remove();
  }
}

export interface Voters {
  readonly names: readonly string[];
  readonly ids: ReadonlyMap<string, string>;
}

async function voters(replica: ManagedReplica): Promise<Voters> {
  const { members } = await gateway({ url: replica.clientUrl }, 'cluster/member/list', {});
  assert.ok(Array.isArray(members));
  const all = members as { name?: string; ID: string; isLearner?: boolean }[];
  const voting = all.filter(({ isLearner }) => isLearner !== true);
  return {
    names: voting.map(({ name }) => name ?? '').sort(),
    ids: new Map(voting.map(({ name, ID }) => [name ?? '', ID])),
  };
}

/** Who votes in an etcd cluster, as one of its members says over the JSON gateway. */
export function untilVoters(replica: ManagedReplica, names: readonly string[]): Promise<Voters> {
  return eventually(
    async () => {
      const seen = await voters(replica);
      return seen.names.join() === names.join() ? seen : undefined;
    },
    { what: `voters ${names.join()}` },
  );
}
