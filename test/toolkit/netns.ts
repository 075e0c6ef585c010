// Hosts of the test's own: network namespaces joined by bridges, where a partition is what it is
// in a data centre: silence, with the link up, no reset, no refusal. Cutting a host disables its
// bridge port; cutting one direction of one pair points the sender's neighbour entry at a MAC
// address that nobody has. Both lose frames without telling anyone.
//
// All bridges live in one more namespace, the switch; the machine's own namespace gets one veth
// end, on a management network that is never cut, so that the test can always reach every host
// by the same addresses that the hosts use among themselves. Management ports are isolated from
// each other: no packet between hosts can sneak around a partition.
// Refuses: shaping delay or loss (the netem module is often absent; fault-proxy.ts does that).

import { networkInterfaces } from 'node:os';
import { type Lease, tryLease } from './lease.ts';
import { bridge, ip, ipBatch, namespaceName, sweepAbandonedNamespaces } from './netns-support.ts';
import { findCommand } from './packages.ts';
import { leaveToReaper } from './reaper.ts';

const MAX_HOSTS = 200;
const MAX_NETWORKS = 7;
const MANAGEMENT = 7;
/** 198.18.0.0/15 is reserved for benchmarks: no real network uses it. 64 blocks of 8 × /24. */
const BLOCK_COUNT = 64;
const TEST_SIDE = 254;
/** Locally administered, and never assigned to an interface here. */
const NOBODYS_MAC = '02:00:de:ad:00:00';

/** Where a process can run: an address, and how to start a command there. */
export interface Place {
  readonly address: string;
  command(command: string, args: readonly string[]): { command: string; args: readonly string[] };
}

export interface NetworkSpec {
  /** Host name → the networks that it has a leg in. Lower-case letters, digits, dashes. */
  readonly hosts: Readonly<Record<string, readonly string[]>>;
}

let created = 0;

export async function createNetwork(spec: NetworkSpec): Promise<TestNetwork> {
  await sweepAbandonedNamespaces();
  const names = Object.keys(spec.hosts);
  const networks = [...new Set(Object.values(spec.hosts).flat())];
  if (names.length > MAX_HOSTS || networks.length > MAX_NETWORKS) {
    throw new Error(`at most ${MAX_HOSTS} hosts and ${MAX_NETWORKS} networks`);
  }
  for (const name of [...names, ...networks]) {
    if (!/^[a-z0-9-]{1,32}$/.test(name)) throw new Error(`bad host or network name: ${name}`);
  }
  created += 1;
  const network = new TestNetwork(await leaseBlock(), `${created}`, networks);
  try {
    await network.build(spec);
  } catch (error) {
    await network.remove();
    throw error;
  }
  return network;
}

interface Leg {
  readonly network: string;
  /** Interface inside the host. */
  readonly device: string;
  /** The other end, in the switch. */
  readonly port: string;
  /** What that end is plugged into. */
  readonly bridge: string;
  readonly address: string;
}

export class TestNetwork implements AsyncDisposable {
  /** The machine's own end of the management network. */
  readonly testDevice: string;
  /** Of that end: where every host reaches what the test itself serves. */
  readonly testAddress: string;
  readonly #hosts = new Map<string, NetHost>();
  readonly #block: Lease;
  readonly #networks: readonly string[];
  readonly #label: string;
  readonly #switch: string;
  /** Bounded by the square of MAX_HOSTS. */
  readonly #drops = new Map<string, readonly [string, string]>();
  readonly #removals: (() => Promise<void>)[] = [];

  constructor(block: Lease, label: string, networks: readonly string[]) {
    this.testDevice = `bfleet${block.number}`;
    this.testAddress = blockAddress(block.number, MANAGEMENT, TEST_SIDE);
    this.#block = block;
    this.#label = label;
    this.#networks = networks;
    this.#switch = namespaceName(`${label}-switch`);
  }

  get hosts(): readonly NetHost[] {
    return [...this.#hosts.values()];
  }

  host(name: string): NetHost {
    const host = this.#hosts.get(name);
    if (host === undefined) throw new Error(`no host ${name}`);
    return host;
  }

  async build(spec: NetworkSpec): Promise<void> {
    await this.#addNamespace(this.#switch);
    const bridges = [...this.#networks.keys(), MANAGEMENT];
    await ipBatch(
      this.#switch,
      bridges.flatMap((k) => [`link add br${k} type bridge`, `link set br${k} up`]),
    );
    let index = 0;
    for (const [name, networks] of Object.entries(spec.hosts)) {
      index += 1;
      this.#hosts.set(name, await this.#addHost(name, index, networks));
    }
    await this.#addTestSide();
  }

  /** The host falls silent on one of its networks, or on all. The test still reaches it. */
  async isolate(name: string, network?: string): Promise<void> {
    await this.#setPorts(name, network, 'disabled');
  }

  /** Undoes `isolate`; what TCP still retransmits gets through. */
  async rejoin(name: string, network?: string): Promise<void> {
    await this.#setPorts(name, network, 'forwarding');
  }

  /** Everything that `from` sends to `to` vanishes; the other direction stays. */
  async drop(from: string, to: string): Promise<void> {
    const deadEnd = ['lladdr', NOBODYS_MAC, 'nud', 'permanent'];
    for (const [device, address] of this.#sharedLegs(from, to)) {
      const { namespace } = this.host(from);
      await ip(['-n', namespace, 'neigh', 'replace', address, 'dev', device, ...deadEnd]);
    }
    this.#drops.set(`${from} ${to}`, [from, to]);
  }

  /** Undoes `drop`. */
  async restore(from: string, to: string): Promise<void> {
    for (const [device, address] of this.#sharedLegs(from, to)) {
      const { namespace } = this.host(from);
      await ip(['-n', namespace, 'neigh', 'flush', 'to', address, 'dev', device, 'nud', 'all']);
    }
    this.#drops.delete(`${from} ${to}`);
  }

  /** No faults any more. */
  async heal(): Promise<void> {
    for (const host of this.hosts) await this.rejoin(host.name);
    for (const [from, to] of this.#drops.values()) await this.restore(from, to);
  }

  /** Refuses while a process still runs inside, changing nothing: stop those first. */
  async remove(): Promise<void> {
    for (const { namespace } of this.hosts) {
      const inside = (await ip(['netns', 'pids', namespace])).trim().replaceAll('\n', ' ');
      if (inside !== '') throw new Error(`${namespace} still holds processes: ${inside}`);
    }
    this.#hosts.clear();
    for (let undo = this.#removals.pop(); undo !== undefined; undo = this.#removals.pop()) {
      await undo();
    }
    await this.#block.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.remove();
  }

  async #addHost(name: string, index: number, networks: readonly string[]): Promise<NetHost> {
    const namespace = namespaceName(`${this.#label}-${name}`);
    await this.#addNamespace(namespace);
    const legs = networks.map((network, at) =>
      this.#leg(network, this.#networks.indexOf(network), `eth${at}`, index),
    );
    const management = this.#leg('management', MANAGEMENT, 'mgmt', index);
    const all = [...legs, management];
    await ipBatch(
      this.#switch,
      all.flatMap(({ device, port, bridge: on }) => [
        `link add ${port} type veth peer name ${device} netns ${namespace}`,
        `link set ${port} master ${on}`,
        `link set ${port} up`,
      ]),
    );
    await ipBatch(namespace, [
      'link set lo up',
      ...all.flatMap(({ device, address }) => [
        `addr add ${address}/24 dev ${device}`,
        `link set ${device} up`,
      ]),
    ]);
    await bridge(['-n', this.#switch, 'link', 'set', 'dev', management.port, 'isolated', 'on']);
    return new NetHost(name, namespace, legs, management.address);
  }

  #leg(network: string, networkIndex: number, device: string, hostIndex: number): Leg {
    return {
      network,
      device,
      port: `h${hostIndex}n${networkIndex}`,
      bridge: `br${networkIndex}`,
      address: blockAddress(this.#block.number, networkIndex, hostIndex),
    };
  }

  /** The machine's own end of the management network, and the way to every host through it. */
  async #addTestSide(): Promise<void> {
    const device = this.testDevice;
    const peer = ['peer', 'name', 'test', 'netns', this.#switch];
    await ip(['link', 'add', device, 'type', 'veth', ...peer]);
    // Deleting the switch would remove it too, but only some time later: the kernel is lazy.
    this.#removals.push(() => ip(['link', 'del', device]).then(() => {}));
    await ipBatch(this.#switch, [`link set test master br${MANAGEMENT}`, 'link set test up']);
    await ip(['addr', 'add', `${this.testAddress}/24`, 'dev', device]);
    await ip(['link', 'set', device, 'up']);
    for (const host of this.hosts) {
      for (const { address } of host.legs) {
        await ip(['route', 'add', `${address}/32`, 'via', host.managementAddress, 'dev', device]);
      }
    }
  }

  async #addNamespace(name: string): Promise<void> {
    const removed = leaveToReaper({ kind: 'netns', name });
    await ip(['netns', 'add', name]);
    this.#removals.push(async () => {
      await ip(['netns', 'del', name]);
      removed();
    });
  }

  async #setPorts(name: string, network: string | undefined, state: string): Promise<void> {
    const legs = this.host(name).legs.filter((leg) => (network ?? leg.network) === leg.network);
    if (legs.length === 0) throw new Error(`host ${name} has no leg in network ${network}`);
    for (const { port } of legs) {
      await bridge(['-n', this.#switch, 'link', 'set', 'dev', port, 'state', state]);
    }
  }

  /** How `from` reaches `to`: its device and the peer's address, per network that both are in. */
  #sharedLegs(from: string, to: string): readonly (readonly [string, string])[] {
    const theirs = this.host(to).legs;
    return this.host(from).legs.flatMap(({ device, network }) =>
      theirs.filter((leg) => leg.network === network).map((leg) => [device, leg.address] as const),
    );
  }
}

export class NetHost implements Place {
  readonly name: string;
  readonly namespace: string;
  readonly legs: readonly Leg[];
  readonly managementAddress: string;

  constructor(name: string, namespace: string, legs: readonly Leg[], managementAddress: string) {
    this.name = name;
    this.namespace = namespace;
    this.legs = legs;
    this.managementAddress = managementAddress;
  }

  /** Its address in the first of its networks. */
  get address(): string {
    const [first] = this.legs;
    if (first === undefined) throw new Error(`host ${this.name} has no network`);
    return first.address;
  }

  addressIn(network: string): string {
    const leg = this.legs.find((candidate) => candidate.network === network);
    if (leg === undefined) throw new Error(`host ${this.name} has no leg in ${network}`);
    return leg.address;
  }

  /** `ip netns exec` becomes the command itself, so the pid is the command's. */
  command(command: string, args: readonly string[]): { command: string; args: readonly string[] } {
    const program = findCommand('ip') ?? 'ip';
    return { command: program, args: ['netns', 'exec', this.namespace, command, ...args] };
  }
}

/** 198.18.0.0 + block × 2048 + network × 256 + host. */
export function blockAddress(block: number, network: number, host: number): string {
  const third = block * 8 + network;
  return `198.${18 + Math.floor(third / 256)}.${third % 256}.${host}`;
}

async function leaseBlock(): Promise<Lease> {
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const usedSubnets = new Set(interfaces.map(({ address }) => subnetOf(address)));
  for (let block = 0; block < BLOCK_COUNT; block += 1) {
    const subnets = Array.from({ length: 8 }, (_, k) => subnetOf(blockAddress(block, k, 0)));
    // Someone else's, or a dead test's that the kernel has not finished removing.
    if (subnets.some((subnet) => usedSubnets.has(subnet))) continue;
    const lease = await tryLease('subnet', block);
    if (lease !== undefined) return lease;
  }
  throw new Error(`all ${BLOCK_COUNT} test subnets of 198.18.0.0/15 are taken`);
}

function subnetOf(address: string): string {
  return address.slice(0, address.lastIndexOf('.'));
}
