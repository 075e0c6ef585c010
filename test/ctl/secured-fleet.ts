// A fleet of real processes under mutual TLS: a coordinator, a shard and, over a Unix socket, a kit
// provider; each with a leaf of one authority that carries its own identity.

import path from 'node:path';
import { realRuntime } from '@bigfleet/base/real';
import {
  type Client,
  Coordinator,
  CoordinatorAdmin,
  createClient,
  createGrpcChannel,
  ShardQuery,
  tlsFromFlags,
} from '@bigfleet/wire';
import {
  CertificateAuthority,
  createPemDir,
  createTempDir,
  leasePort,
  type PemDir,
  type RunningProcess,
  startProcess,
} from '../toolkit/index.ts';
import { bigfleetctl, type Ended } from './bigfleetctl.ts';

const MAIN = path.join(import.meta.dirname, '../../packages/cli/src/main.ts');
const PROVIDER_MAIN = path.join(import.meta.dirname, 'refusing-provider-main.ts');

const IDENTITIES = {
  admin: 'bigfleet://admin',
  readonly: 'bigfleet://readonly',
  'shard-0': 'bigfleet://shard/shard-0',
  'shard-2': 'bigfleet://shard/shard-2',
} as const;
type Holder = keyof typeof IDENTITIES;

export interface ShardStart {
  /** Its own when absent. */
  readonly certificateOf?: Holder;
  /** Address that it reports to; the coordinator's when absent. */
  readonly coordinator?: string;
}

interface Ports {
  readonly coordinator: number;
  readonly shard: number;
}

export class SecuredFleet implements AsyncDisposable {
  readonly providerAddress: string;
  readonly #folder: string;
  readonly #files: ReadonlyMap<string, PemDir>;
  readonly #ports: Ports;
  readonly #opened: AsyncDisposableStack;
  #coordinator: RunningProcess | undefined;
  #shard: RunningProcess | undefined;

  static async start(): Promise<SecuredFleet> {
    await using opening = new AsyncDisposableStack();
    const { path: folder } = opening.use(createTempDir('secured'));
    const authority = await CertificateAuthority.root();
    const files = new Map<string, PemDir>();
    for (const [holder, uri] of Object.entries(IDENTITIES)) {
      const leaf = await authority.leaf({ uris: [uri], ips: ['127.0.0.1'] });
      files.set(holder, opening.use(await createPemDir(leaf)));
    }
    const lease = async (): Promise<number> => opening.use(await leasePort()).port;
    const ports = { coordinator: await lease(), shard: await lease() };
    const fleet = new SecuredFleet(folder, files, ports, opening.move());
    try {
      await Promise.all([fleet.#startCoordinator(), fleet.#startProvider(), fleet.restartShard()]);
    } catch (error) {
      await fleet[Symbol.asyncDispose]();
      throw error;
    }
    return fleet;
  }

  private constructor(
    folder: string,
    files: ReadonlyMap<string, PemDir>,
    ports: Ports,
    opened: AsyncDisposableStack,
  ) {
    this.#folder = folder;
    this.#files = files;
    this.#ports = ports;
    this.#opened = opened;
    this.providerAddress = `unix:${path.join(folder, 'provider.sock')}`;
  }

  get shardAddress(): string {
    return `127.0.0.1:${this.#ports.shard}`;
  }

  /** As an administrator sees the coordinator and the shard, without a process per question. */
  asAdmin(): {
    readonly coordinator: Client<typeof Coordinator>;
    readonly registry: Client<typeof CoordinatorAdmin>;
    readonly shard: Client<typeof ShardQuery>;
  } {
    const coordinator = this.#dial(`127.0.0.1:${this.#ports.coordinator}`);
    return {
      coordinator: createClient(Coordinator, coordinator),
      registry: createClient(CoordinatorAdmin, coordinator),
      shard: createClient(ShardQuery, this.#dial(this.shardAddress)),
    };
  }

  #dial(target: string): ReturnType<typeof createGrpcChannel> {
    const files = this.#filesOf('admin');
    const tls = tlsFromFlags({ cert: files.certFile, key: files.keyFile, ca: files.caFile });
    if (tls === 'plaintext') throw new Error('three files are mutual TLS');
    const serverIdentity = { kind: 'host-name-only' } as const;
    const channel = createGrpcChannel({
      runtime: realRuntime(),
      target,
      tls,
      serverIdentity,
      reconnectBackoffMs: { initial: 20, max: 50 },
    });
    this.#opened.defer(() => channel.close());
    return channel;
  }

  coordinatorOutput(): string {
    return this.#coordinator?.output.text() ?? '';
  }

  /** `bigfleetctl` with the certificate of this holder. */
  ctl(holder: Holder, line: string): Promise<Ended> {
    const address = `--coordinator=127.0.0.1:${this.#ports.coordinator}`;
    return bigfleetctl(address, ...this.#tls(holder), ...line.split(' '));
  }

  async startShard(id: string, start: ShardStart = {}): Promise<RunningProcess> {
    const { certificateOf, coordinator = `127.0.0.1:${this.#ports.coordinator}` } = start;
    const holder = certificateOf ?? (id === 'shard-2' ? 'shard-2' : 'shard-0');
    const listen = id === 'shard-0' ? this.shardAddress : '127.0.0.1:0';
    return this.#run('shard', [
      `--id=${id}`,
      `--listen=${listen}`,
      `--data-dir=${path.join(this.#folder, id)}`,
      `--coordinator-addr=${coordinator}`,
      '--coordinator-heartbeat-interval=300ms',
      ...this.#tls(holder),
    ]);
  }

  /** The first time it is a start. */
  async restartShard(): Promise<void> {
    await this.#shard?.[Symbol.asyncDispose]();
    this.#shard = this.#opened.use(await this.startShard('shard-0'));
  }

  async stopCoordinator(): Promise<void> {
    await this.#coordinator?.[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }

  async #startCoordinator(): Promise<void> {
    const child = await this.#run('coordinator', [
      '--bootstrap',
      `--listen=127.0.0.1:${this.#ports.coordinator}`,
      `--data-dir=${path.join(this.#folder, 'coordinator')}`,
      ...this.#tls('admin'),
    ]);
    this.#coordinator = this.#opened.use(child);
  }

  async #startProvider(): Promise<void> {
    this.#opened.use(
      await startProcess({
        name: 'provider',
        command: process.execPath,
        args: [
          PROVIDER_MAIN,
          '--use-fake-backend',
          `--addr=${this.providerAddress}`,
          '--metrics-addr=127.0.0.1:0',
          `--state=${path.join(this.#folder, 'provider.json')}`,
          '--seed-count=1',
        ],
        ready: { kind: 'line', pattern: / msg="serving CapacityProvider"/ },
      }),
    );
  }

  #run(command: 'coordinator' | 'shard', argv: readonly string[]): Promise<RunningProcess> {
    return startProcess({
      name: command,
      command: process.execPath,
      args: [MAIN, command, '--metrics-addr=127.0.0.1:0', '--require-tls', ...argv],
      ready: { kind: 'line', pattern: / msg="metrics serving"/ },
    });
  }

  #filesOf(holder: Holder): PemDir {
    const files = this.#files.get(holder);
    if (files === undefined) throw new Error(`nobody holds ${holder}`);
    return files;
  }

  #tls(holder: Holder): readonly string[] {
    const files = this.#filesOf(holder);
    return [
      `--tls-cert=${files.certFile}`,
      `--tls-key=${files.keyFile}`,
      `--tls-ca=${files.caFile}`,
    ];
  }
}
