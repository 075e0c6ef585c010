// Hosts that can be partitioned, on the best means this machine offers: network namespaces when
// the privilege is there, else one fault proxy per dialled link on loopback. Which one is in use
// is said aloud when it is the lesser, because a partition made by a proxy is weaker evidence
// (no lost SYN, no kernel retransmission) and a release claim needs namespaces.
//
// Tests work on both when they: listen on `address(host)` with leased ports (on loopback the
// hosts share them), start commands through `place(host)`, and reach a peer only by `dial`.

import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { createNetwork, type Place, type TestNetwork } from './netns.ts';
import { netnsSupport } from './netns-support.ts';

export type PartitionBackend = 'netns' | 'proxy';

export interface PartitionOptions {
  /** Host name → the networks that it has a leg in. */
  readonly hosts: Readonly<Record<string, readonly string[]>>;
  /** Receives the one line that says that proxies are used; standard error unless told. */
  readonly say?: (line: string) => void;
  /** Forces one means; a forced `netns` without the privilege throws. */
  readonly backend?: PartitionBackend;
}

export interface Partitions extends AsyncDisposable {
  readonly backend: PartitionBackend;
  /** Where a server on the host listens, and where the test itself reaches it, cut or not. */
  address(host: string, network?: string): string;
  place(host: string): Place;
  /** What `from` dials to reach a port of `to`; the path that the faults below act on. */
  dial(from: string, to: string, port: number): Promise<{ host: string; port: number }>;
  /** Silence in both directions, on one of the host's networks or all. */
  isolate(host: string, network?: string): Promise<void>;
  rejoin(host: string, network?: string): Promise<void>;
  /** Silence in one direction of one pair. */
  drop(from: string, to: string): Promise<void>;
  restore(from: string, to: string): Promise<void>;
  heal(): Promise<void>;
  remove(): Promise<void>;
}

export async function createPartitions(options: PartitionOptions): Promise<Partitions> {
  const support = await netnsSupport();
  if (options.backend !== 'proxy' && support.ok) {
    return new NetnsPartitions(await createNetwork(options));
  }
  if (options.backend === 'netns' && !support.ok) throw new Error(support.reason);
  const why = support.ok ? 'the test asked for them' : support.reason;
  const say = options.say ?? ((line) => process.stderr.write(`${line}\n`));
  say(`partitions use TCP fault proxies, not network namespaces: ${why}`);
  return new ProxyPartitions(options.hosts);
}

class NetnsPartitions implements Partitions {
  readonly backend = 'netns';
  readonly #network: TestNetwork;

  constructor(network: TestNetwork) {
    this.#network = network;
  }

  address(host: string, network?: string): string {
    const found = this.#network.host(host);
    return network === undefined ? found.address : found.addressIn(network);
  }

  place(host: string): Place {
    return this.#network.host(host);
  }

  async dial(from: string, to: string, port: number): Promise<{ host: string; port: number }> {
    const target = this.#network.host(to);
    const shared = this.#network
      .host(from)
      .legs.find(({ network }) => target.legs.some((leg) => leg.network === network));
    if (shared === undefined) throw new Error(`${from} and ${to} share no network`);
    return { host: target.addressIn(shared.network), port };
  }

  isolate(host: string, network?: string): Promise<void> {
    return this.#network.isolate(host, network);
  }

  rejoin(host: string, network?: string): Promise<void> {
    return this.#network.rejoin(host, network);
  }

  drop(from: string, to: string): Promise<void> {
    return this.#network.drop(from, to);
  }

  restore(from: string, to: string): Promise<void> {
    return this.#network.restore(from, to);
  }

  heal(): Promise<void> {
    return this.#network.heal();
  }

  remove(): Promise<void> {
    return this.#network.remove();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.remove();
  }
}

interface Link {
  readonly from: string;
  readonly to: string;
  readonly network: string;
  readonly proxy: FaultProxy;
}

const LOOPBACK = '127.0.0.1';
const MAX_LINKS = 256;

class ProxyPartitions implements Partitions {
  readonly backend = 'proxy';
  readonly #hosts: Readonly<Record<string, readonly string[]>>;
  readonly #links = new Map<string, Link>();
  /** `host network` pairs and `from>to` pairs; bounded by the hosts. */
  readonly #isolated = new Set<string>();
  readonly #dropped = new Set<string>();

  constructor(hosts: Readonly<Record<string, readonly string[]>>) {
    this.#hosts = hosts;
  }

  address(host: string, network?: string): string {
    const legs = this.#legs(host, network);
    if (legs.length === 0) throw new Error(`host ${host} has no leg in ${network}`);
    return LOOPBACK;
  }

  place(host: string): Place {
    return { address: this.address(host), command: (command, args) => ({ command, args }) };
  }

  async dial(from: string, to: string, port: number): Promise<{ host: string; port: number }> {
    const key = `${from}>${to}:${port}`;
    const known = this.#links.get(key);
    if (known !== undefined) return { host: known.proxy.host, port: known.proxy.port };
    if (this.#links.size >= MAX_LINKS) throw new Error(`more than ${MAX_LINKS} proxied links`);
    const network = this.#legs(from).find((leg) => this.#legs(to).includes(leg));
    if (network === undefined) throw new Error(`${from} and ${to} share no network`);
    const proxy = await startFaultProxy({ targetPort: port });
    const link = { from, to, network, proxy };
    this.#links.set(key, link);
    this.#apply(link);
    return { host: proxy.host, port: proxy.port };
  }

  async isolate(host: string, network?: string): Promise<void> {
    for (const leg of this.#legs(host, network)) this.#isolated.add(`${host} ${leg}`);
    this.#applyAll();
  }

  async rejoin(host: string, network?: string): Promise<void> {
    for (const leg of this.#legs(host, network)) this.#isolated.delete(`${host} ${leg}`);
    this.#applyAll();
  }

  async drop(from: string, to: string): Promise<void> {
    this.#dropped.add(`${from}>${to}`);
    this.#applyAll();
  }

  async restore(from: string, to: string): Promise<void> {
    this.#dropped.delete(`${from}>${to}`);
    this.#applyAll();
  }

  async heal(): Promise<void> {
    this.#isolated.clear();
    this.#dropped.clear();
    this.#applyAll();
  }

  async remove(): Promise<void> {
    for (const { proxy } of this.#links.values()) await proxy.stop();
    this.#links.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.remove();
  }

  #legs(host: string, network?: string): readonly string[] {
    const legs = this.#hosts[host];
    if (legs === undefined) throw new Error(`no host ${host}`);
    return legs.filter((leg) => (network ?? leg) === leg);
  }

  #applyAll(): void {
    for (const link of this.#links.values()) this.#apply(link);
  }

  #apply({ from, to, network, proxy }: Link): void {
    const cut = this.#isolated.has(`${from} ${network}`) || this.#isolated.has(`${to} ${network}`);
    proxy.fault('up', { silent: cut || this.#dropped.has(`${from}>${to}`) });
    proxy.fault('down', { silent: cut || this.#dropped.has(`${to}>${from}`) });
  }
}
