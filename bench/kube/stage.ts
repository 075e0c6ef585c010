// What every kube bench with a network starts: the API server's process, and client processes of both
// sides. All of them end with the bench.

import { setTimeout as sleep } from 'node:timers/promises';
import { CertificateAuthority } from '../../test/toolkit/index.ts';
import { PeerProcess } from '../harness/peer-process.ts';
import type { ClientMemory, ClientOrder, SyncReport } from './client-order.ts';
import type { ServerOrder } from './server.ts';

const CHILD = new URL('./child.ts', import.meta.url);
/** A hundred thousand Pods are created before the server answers. */
const START_WITHIN_MS = 300_000;
const ANSWER_WITHIN_MS = 300_000;
const POLL_MS = 20;

export class ClientProcess {
  readonly #process: PeerProcess;

  constructor(order: ClientOrder) {
    this.#process = new PeerProcess({ child: CHILD, order, nodeFlags: ['--expose-gc'] });
  }

  async sync(): Promise<SyncReport> {
    return (await this.#process.ask('sync', 0, ANSWER_WITHIN_MS)) as SyncReport;
  }

  async resync(): Promise<SyncReport> {
    return (await this.#process.ask('resync', 0, ANSWER_WITHIN_MS)) as SyncReport;
  }

  async memory(): Promise<ClientMemory> {
    return (await this.#process.ask('memory')) as ClientMemory;
  }

  async acknowledge(count: number): Promise<readonly number[]> {
    return (await this.#process.ask('acknowledge', count, ANSWER_WITHIN_MS)) as readonly number[];
  }

  async control(): Promise<void> {
    await this.#process.ask('control', 0, ANSWER_WITHIN_MS);
  }

  stop(): Promise<void> {
    return this.#process.stop();
  }
}

export class Stage {
  readonly server: PeerProcess;
  readonly #caPem: string;
  readonly #clients = new Set<ClientProcess>();
  #url = '';

  private constructor(order: ServerOrder) {
    this.#caPem = order.tls.caPem;
    this.server = new PeerProcess({ child: CHILD, order });
  }

  static async start(shape: Pick<ServerOrder, 'seed' | 'pods' | 'requests'>): Promise<Stage> {
    const authority = await CertificateAuthority.root();
    const { certPem, keyPem } = await authority.leaf({ ips: ['127.0.0.1'] });
    const tls = { certPem, keyPem, caPem: authority.caPem };
    const stage = new Stage({ role: 'server', ...shape, tls });
    stage.#url = String(await stage.server.ask('url', 0, START_WITHIN_MS));
    return stage;
  }

  client(side: ClientOrder['side']): ClientProcess {
    const client = new ClientProcess({
      role: 'client',
      side,
      url: this.#url,
      caPem: this.#caPem,
    });
    this.#clients.add(client);
    return client;
  }

  /** A controller that has written a request for every Pod that was there. */
  async controller(side: ClientOrder['side']): Promise<void> {
    await this.client(side).control();
    const podCount = await this.server.askNumber('podCount');
    const giveUpMs = performance.now() + ANSWER_WITHIN_MS;
    while ((await this.server.askNumber('requestCount')) < podCount) {
      if (performance.now() > giveUpMs) throw new Error(`${side}: Pods without a request`);
      await sleep(POLL_MS);
    }
  }

  async stop(client: ClientProcess): Promise<void> {
    this.#clients.delete(client);
    await client.stop();
  }

  async end(): Promise<void> {
    for (const client of this.#clients) await client.stop();
    await this.server.stop();
  }
}
