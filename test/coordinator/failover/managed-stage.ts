// Three coordinator processes that each bring their own etcd, as the chart starts them: identical
// arguments, all with --bootstrap, one address in front of all of them to join at. Who votes is asked
// of etcd itself, over its JSON gateway.

import assert from 'node:assert/strict';
import path from 'node:path';
import { etcdBinaries } from '../../etcd/binaries.ts';
import { gateway } from '../../etcd/gateway.ts';
import { createTempDir, eventually, leasePort } from '../../toolkit/index.ts';
import { CoordinatorProcess, findLeader, type Leader } from './coordinator-process.ts';
import { FrontDoor } from './front-door.ts';
import { registerValues, RegisterLoad } from './register-load.ts';

const NODE_IDS = ['managed-0', 'managed-1', 'managed-2'];
/** Ordinal 0 asks for others for 30 s before it begins; etcd adds one member after the other. */
const HERE = {
  address: '127.0.0.1',
  command: (command: string, args: readonly string[]) => ({ command, args }),
};

/** By name: the member id. */
type Voters = ReadonlyMap<string, string>;

export class ManagedStage implements AsyncDisposable {
  readonly replicas: readonly CoordinatorProcess[];
  readonly #etcdUrls: ReadonlyMap<string, string>;
  readonly #opened: AsyncDisposableStack;

  /** All at once; resolves when each is ready and all three vote. */
  static async start(): Promise<ManagedStage> {
    await using opening = new AsyncDisposableStack();
    const folder = opening.use(createTempDir('managed-failover'));
    const replicas: CoordinatorProcess[] = [];
    const door = opening.use(await FrontDoor.open(() => replicas.map(({ address }) => address)));
    const etcdUrls = new Map<string, string>();
    for (const nodeId of NODE_IDS) {
      const lease = async (): Promise<number> => opening.use(await leasePort()).port;
      const client = `127.0.0.1:${await lease()}`;
      etcdUrls.set(nodeId, `http://${client}`);
      const spec = {
        nodeId,
        place: HERE,
        port: await lease(),
        metricsPort: await lease(),
        dataDir: path.join(folder.path, nodeId),
        argv: [
          '--bootstrap',
          `--join-addr=${door.address}`,
          `--raft-bind=127.0.0.1:${await lease()}`,
          `--etcd-client-addr=${client}`,
          `--etcd-binary=${etcdBinaries().etcd}`,
        ],
      };
      replicas.push(opening.use(new CoordinatorProcess(spec)));
    }
    await Promise.all(replicas.map((replica) => replica.start()));
    const stage = new ManagedStage(replicas, etcdUrls, opening.move());
    try {
      await stage.untilFormed();
      await registerValues((await stage.leader()).replica);
    } catch (error) {
      await stage[Symbol.asyncDispose]();
      throw error;
    }
    return stage;
  }

  private constructor(
    replicas: readonly CoordinatorProcess[],
    etcdUrls: ReadonlyMap<string, string>,
    opened: AsyncDisposableStack,
  ) {
    this.replicas = replicas;
    this.#etcdUrls = etcdUrls;
    this.#opened = opened;
  }

  leader(): Promise<Leader> {
    return findLeader(this.replicas);
  }

  replica(nodeId: string): CoordinatorProcess {
    const found = this.replicas.find((each) => each.nodeId === nodeId);
    assert.ok(found !== undefined, nodeId);
    return found;
  }

  startLoad(name: string): RegisterLoad {
    return new RegisterLoad({ name, replicas: this.replicas });
  }

  async untilFormed(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.waitReady()));
    await eventually(async () => (await this.voters()).size === NODE_IDS.length, {
      what: 'three voting members',
      everyMs: 200,
      details: () => this.replicas.map((replica) => replica.outputText()).join('\n'),
    });
  }

  /** As the first replica that runs sees them. */
  async voters(): Promise<Voters> {
    const running = this.replicas.find(({ isRunning }) => isRunning);
    const url = this.#etcdUrls.get(running?.nodeId ?? '') ?? '';
    const { members } = await gateway({ url }, 'cluster/member/list', {});
    assert.ok(Array.isArray(members));
    const all = members as { name?: string; ID: string; isLearner?: boolean }[];
    const voting = all.filter(({ isLearner }) => isLearner !== true);
    return new Map(voting.map(({ name, ID }) => [name ?? '', ID]));
  }

  /** Of every replica. */
  async clusterUids(): Promise<ReadonlySet<string>> {
    const statuses = await Promise.all(this.replicas.map(({ admin }) => admin.getStatus({})));
    return new Set(statuses.map(({ clusterUid }) => clusterUid));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }
}
