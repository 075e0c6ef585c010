// Builds what wire/streams-5k measures: certificates, one server process, a few processes full of
// operators, every stream open at the same time. The server's memory is read before the first
// stream and after the last, in its own process, so that no client is counted in it.

import {
  CertificateAuthority,
  createPemDir,
  type Leaf,
  type PemDir,
} from '../../test/toolkit/index.ts';
import type { PeerProcess } from '../harness/peer-process.ts';
import type { Operator, PemFiles } from './child-order.ts';
import { startPeer } from './peer.ts';
import {
  parseCounts,
  parseDurations,
  parseMemory,
  type ServerMemory,
  type StreamCounts,
} from './stream-counts.ts';

/** More than one: a client pays for its half of each handshake too. */
const CLIENT_PROCESS_COUNT = 2;
const CERTIFICATE_COUNT = 8;
const LOCAL = { dnsNames: ['localhost'], ips: ['127.0.0.1'] } as const;

interface Certificates {
  readonly server: PemFiles;
  readonly operators: readonly Operator[];
}

/** Durations in milliseconds. */
export interface Opened {
  /** From the first dial to the last acknowledgement. */
  readonly totalMs: number;
  /** Per stream, in no order. */
  readonly eachMs: Float64Array;
}

export class StreamFleet {
  readonly #folders: PemDir[] = [];
  readonly #clients: PeerProcess[] = [];
  #certificates: Certificates | undefined;
  #server: PeerProcess | undefined;

  get clientProcessCount(): number {
    return this.#clients.length;
  }

  /** One of the operators' certificates, for a client of the bench's own. */
  get operatorTls(): PemFiles {
    return need(need(this.#certificates).operators[0]).tls;
  }

  /** The server's address. */
  async startServer(seed: number): Promise<string> {
    const ca = await CertificateAuthority.root();
    const leaf = (uri: string): Promise<Leaf> => ca.leaf({ ...LOCAL, uris: [uri] });
    const server = await this.#write(await leaf('bigfleet://shard/bench'));
    const operators: Operator[] = [];
    for (let index = 0; index < CERTIFICATE_COUNT; index++) {
      const clusterId = `bench-${index}`;
      const tls = await this.#write(await leaf(`bigfleet://cluster/${clusterId}`));
      operators.push({ clusterId, tls });
    }
    this.#certificates = { server, operators };
    this.#server = startPeer({ role: 'stream-server', tls: server, seed });
    return String(await this.#server.ask('address'));
  }

  async open(target: string, streamCount: number): Promise<Opened> {
    const { operators } = need(this.#certificates);
    const share = streamCount / CLIENT_PROCESS_COUNT;
    for (let index = 0; index < CLIENT_PROCESS_COUNT; index++) {
      const order = { role: 'stream-clients', target, streamCount: share, operators } as const;
      this.#clients.push(startPeer(order));
    }
    // Once every process is up: starting one is not opening a stream.
    await this.countLost();
    const startMs = performance.now();
    const answers = await Promise.all(this.#clients.map((peer) => peer.ask('open')));
    const totalMs = performance.now() - startMs;
    return { totalMs, eachMs: Float64Array.from(answers.flatMap(parseDurations)) };
  }

  /** What the server itself holds open at this moment. */
  async count(): Promise<StreamCounts> {
    return parseCounts(await need(this.#server).ask('counts'));
  }

  async memory(): Promise<ServerMemory> {
    return parseMemory(await need(this.#server).ask('memory'));
  }

  /** Streams that ended although nobody ended them, as the clients see it. */
  async countLost(): Promise<number> {
    const lost = this.#clients.map((peer) => peer.askNumber('lostCount'));
    return (await Promise.all(lost)).reduce((sum, count) => sum + count, 0);
  }

  /** The server first: it would report each of the clients' broken connections. */
  async close(): Promise<void> {
    await this.#server?.stop();
    await Promise.all(this.#clients.map((peer) => peer.stop()));
    await Promise.all(this.#folders.map((folder) => folder.remove()));
  }

  async #write(leaf: Leaf): Promise<PemFiles> {
    const folder = await createPemDir(leaf);
    this.#folders.push(folder);
    return { cert: folder.certFile, key: folder.keyFile, ca: folder.caFile };
  }
}

function need<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('the fleet has no server yet');
  return value;
}
