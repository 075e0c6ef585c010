// A fleet whose coordinator moves between data directories and engines while its shard lives on: one
// address for all of them, `bigfleetctl` for what an operator does, and the logical snapshot as what
// must be the same on both sides, byte for byte.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { CoordinatorProcess } from '../coordinator/failover/coordinator-process.ts';
import { bigfleetctl, type Ended } from './bigfleetctl.ts';
import { startShardProcess } from '../shard/shard-process.ts';
import { createTempDir, eventually, leasePort } from '../toolkit/index.ts';
import { etcdBinaries } from '../etcd/binaries.ts';

const NODE_ID = 'coordinator-0';
const binaries = etcdBinaries();

interface Ports {
  readonly grpc: number;
  readonly metrics: number;
  readonly client: number;
  readonly peer: number;
}

/** What a logical snapshot says. */
export interface Contents {
  readonly rows: string;
  readonly term: bigint;
  readonly generation: number;
  readonly clusterUid: string;
}

export class MigratingFleet implements AsyncDisposable {
  readonly folder: string;
  readonly #ports: Ports;
  readonly #opened: AsyncDisposableStack;
  #coordinator: CoordinatorProcess | undefined;

  static async open(): Promise<MigratingFleet> {
    await using opening = new AsyncDisposableStack();
    const folder = opening.use(createTempDir('migration'));
    const lease = async (): Promise<number> => opening.use(await leasePort()).port;
    const ports = {
      grpc: await lease(),
      metrics: await lease(),
      client: await lease(),
      peer: await lease(),
    };
    return new MigratingFleet(folder.path, ports, opening.move());
  }

  private constructor(folder: string, ports: Ports, opened: AsyncDisposableStack) {
    this.folder = folder;
    this.#ports = ports;
    this.#opened = opened;
  }

  at(name: string): string {
    return path.join(this.folder, name);
  }

  /** Reports every 500 ms to whichever coordinator runs. */
  async startShard(): Promise<void> {
    this.#opened.use(
      await startShardProcess([
        '--id=shard-0',
        `--data-dir=${this.at('shard')}`,
        '--fake-provider',
        `--coordinator-addr=127.0.0.1:${this.#ports.grpc}`,
        '--coordinator-heartbeat-interval=500ms',
      ]),
    );
  }

  /** Never with --bootstrap after a restore: what was restored must be enough. */
  async start(
    home: string,
    engine: 'sqlite' | 'etcd',
    argv: readonly string[] = [],
  ): Promise<void> {
    const { grpc, metrics, client, peer } = this.#ports;
    const managed = [
      `--join-addr=127.0.0.1:${grpc}`,
      `--etcd-binary=${binaries.etcd}`,
      `--etcd-client-addr=127.0.0.1:${client}`,
      `--raft-bind=127.0.0.1:${peer}`,
    ];
    const coordinator = new CoordinatorProcess({
      nodeId: NODE_ID,
      place: { address: '127.0.0.1', command: (command, args) => ({ command, args }) },
      port: grpc,
      metricsPort: metrics,
      dataDir: this.at(home),
      argv: [...argv, ...(engine === 'etcd' ? managed : [])],
    });
    this.#coordinator = this.#opened.use(coordinator);
    await coordinator.start();
    await coordinator.waitReady();
  }

  async stop(): Promise<void> {
    const { process } = this.coordinator;
    process.signal('SIGTERM');
    await process.waitExit();
  }

  async ctl(line: string): Promise<string> {
    const ended = await bigfleetctl(
      `--coordinator=${this.coordinator.address}`,
      ...line.split(' '),
    );
    assert.equal(ended.code, 0, `${line}: ${ended.err}\n${this.coordinator.outputText()}`);
    return ended.out;
  }

  restore(archive: string, home: string, engine: 'sqlite' | 'etcd'): Promise<Ended> {
    return bigfleetctl(
      'snapshot',
      'restore',
      this.at(archive),
      `--data-dir=${this.at(home)}`,
      `--node-id=${NODE_ID}`,
      `--raft-advertise=127.0.0.1:${this.#ports.peer}`,
      `--store=${engine}`,
      `--etcd-binary=${binaries.etcd}`,
      `--etcdutl=${binaries.etcdutl ?? 'etcdutl'}`,
    );
  }

  /** Saves a logical snapshot as `archive` and reads it as any tar program would. */
  async save(archive: string): Promise<Contents> {
    await this.ctl(`snapshot save ${this.at(archive)} --format=logical`);
    const args = ['-xOf', this.at(archive), 'state'];
    const [brace = '', first = '', ...rows] = execFileSync('tar', args, { encoding: 'utf8' }).split(
      '\n',
    );
    const { meta } = JSON.parse(`${brace}${first.slice(0, -1)}}`) as {
      meta: { term: string; ledger_generation: number; cluster_uid: string };
    };
    return {
      rows: rows.join('\n'),
      term: BigInt(meta.term),
      generation: meta.ledger_generation,
      clusterUid: meta.cluster_uid,
    };
  }

  /** Its durable mark: below it, nothing that a coordinator says is heard. */
  async untilShardFollows(term: bigint): Promise<void> {
    await eventually(
      async () => (await readFile(this.at('shard/coordinator-term'), 'utf8')).trim() === `${term}`,
      { what: `the shard follows term ${term}` },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }

  get coordinator(): CoordinatorProcess {
    assert.ok(this.#coordinator !== undefined, 'no coordinator was started');
    return this.#coordinator;
  }
}
