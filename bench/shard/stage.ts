// What every shard bench starts: certificates, a provider with a shape, the shard, operators.

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CertificateAuthority, createTempDir } from '../../test/toolkit/index.ts';
import type { Order, PemFiles } from './order.ts';
import { PeerProcess } from '../harness/peer-process.ts';
import { ShardProcess } from './shard-process.ts';

/** 5,000 handshakes take half a minute when both cores are free for them. */
const OPEN_WITHIN_MS = 300_000;
const LOCAL = { dnsNames: ['localhost'], ips: ['127.0.0.1'] } as const;

const CHILD = new URL('./child.ts', import.meta.url);

function peer(order: Order): PeerProcess {
  return new PeerProcess({ child: CHILD, order });
}

export interface StageOptions {
  readonly shape: string;
  readonly clusters: readonly string[];
  readonly operatorProcesses?: number;
  /** How long the provider takes to answer a call about one machine. */
  readonly providerCallMs?: number;
  /** Flags of the shard beside those that every bench needs. */
  readonly shardFlags?: readonly string[];
}

export class Stage {
  readonly #folder = createTempDir('shard-bench');
  readonly #processes: { stop(): Promise<void> }[] = [];
  readonly #options: StageOptions;
  #shardTls: PemFiles | undefined;
  #readerTls: PemFiles | undefined;
  #providerAddress = '';
  provider: PeerProcess | undefined;
  shard: ShardProcess | undefined;
  operators: readonly PeerProcess[] = [];

  constructor(options: StageOptions) {
    this.#options = options;
  }

  get shardTls(): PemFiles {
    if (this.#shardTls === undefined) throw new Error('certificates come first');
    return this.#shardTls;
  }

  /** Of a dashboard: may read and nothing else. */
  get readerTls(): PemFiles {
    if (this.#readerTls === undefined) throw new Error('certificates come first');
    return this.#readerTls;
  }

  get providerAddress(): string {
    return this.#providerAddress;
  }

  async startProvider(): Promise<PeerProcess> {
    const providerTls = await this.#mint();
    const { shape, providerCallMs: callMs = 0 } = this.#options;
    const provider = peer({ role: 'provider', shape, tls: providerTls, callMs });
    this.#processes.push(provider);
    this.#providerAddress = String(await provider.ask('address'));
    this.provider = provider;
    return provider;
  }

  /** A process with an empty data directory. */
  startShard(): ShardProcess {
    const shard = new ShardProcess({
      folder: this.#folder.path,
      providerAddress: this.#providerAddress,
      tls: this.shardTls,
      flags: this.#options.shardFlags ?? [],
    });
    this.#processes.push(shard);
    this.shard = shard;
    return shard;
  }

  /** Every session open and its first roll-up acknowledged; how long opening took. */
  async startOperators(target: string): Promise<number> {
    const openMs = await this.openOperators(target);
    await this.firstRollups();
    return openMs;
  }

  /** Until every roll-up is acknowledged. */
  async firstRollups(): Promise<void> {
    await Promise.all(this.operators.map((peer) => peer.askNumber('first')));
  }

  /** Every session open, and nothing asked for; how long opening took. */
  async openOperators(target: string): Promise<number> {
    const { shape, operatorProcesses: stride = 1 } = this.#options;
    const certificates = path.join(this.#folder.path, 'clusters');
    const operators = Array.from({ length: stride }, (_, first) =>
      peer({ role: 'operators', shape, target, certificates, first, stride }),
    );
    this.#processes.push(...operators);
    this.operators = operators;
    // Until each has built its shape: that is not opening.
    await this.count('sessionCount');
    const startMs = performance.now();
    await Promise.all(operators.map((peer) => peer.askNumber('open', 0, OPEN_WITHIN_MS)));
    return performance.now() - startMs;
  }

  /** Over all operator processes. */
  async count(question: string, argument = 0): Promise<number> {
    const counts = this.operators.map((peer) => peer.askNumber(question, argument));
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  /** The shard first: it would report each of the broken connections. */
  async close(): Promise<void> {
    await this.shard?.stop();
    await Promise.all(this.#processes.map((each) => each.stop()));
    await this.#folder[Symbol.asyncDispose]();
  }

  /** One key per cluster, because a session may only speak for the cluster of its certificate. */
  async #mint(): Promise<PemFiles> {
    const ca = await CertificateAuthority.root();
    const folder = path.join(this.#folder.path, 'clusters');
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'ca.crt'), ca.caPem);
    const mint = async (name: string, uri: string): Promise<PemFiles> => {
      const leaf = await ca.leaf({ ...LOCAL, uris: [uri] });
      const files = {
        cert: path.join(folder, `${name}.crt`),
        key: path.join(folder, `${name}.key`),
        ca: path.join(folder, 'ca.crt'),
      };
      writeFileSync(files.cert, leaf.certPem);
      writeFileSync(files.key, leaf.keyPem, { mode: 0o600 });
      return files;
    };
    for (const id of this.#options.clusters) await mint(id, `bigfleet://cluster/${id}`);
    this.#shardTls = await mint('the-shard', 'bigfleet://shard/shard-0');
    this.#readerTls = await mint('the-reader', 'bigfleet://readonly');
    return mint('the-provider', 'bigfleet://provider/bench');
  }
}
