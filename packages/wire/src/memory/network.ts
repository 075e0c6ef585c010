// The in-memory transport: hosts, addresses and links between them, under an injected runtime.
// Bytes are copied at every send, so peers in one process share nothing. With a virtual runtime
// one seed gives one history: every delay and accident is drawn from named streams, everything
// visible goes to the event log, and faults are values applied at virtual times.
//
// Statuses, limits and flow control are those of the network adapter; the shared behaviour
// suite (testing/behaviour) holds both to it. It moves bytes only: no codec, no authorisation.

import { assert, type Runtime, type Timer } from '@bigfleet/base';
import type { Peer, PeerIdentity } from '../identity/identity.ts';
import { RpcError } from '../transport/status.ts';
import type { ByteRouter, Channel } from '../transport/transport.ts';
import { MemoryChannel } from './channel.ts';
import { Connection } from './connection.ts';
import type { EventLog } from './event-log.ts';
import {
  calmLink,
  type Fault,
  type FaultPlan,
  faultText,
  type LinkProfile,
  noFaults,
} from './faults.ts';
import { type HalfOwner, Host, type HostEvent, hostOf } from './half.ts';
import { type Counters, Ledger, type OpenCounts } from './ledger.ts';
import { Link } from './link.ts';
import { Listener, type MemoryServer } from './server.ts';
import { defaultSettings, type Settings } from './settings.ts';

export interface MemoryNetworkOptions {
  readonly runtime: Runtime;
  readonly faults?: FaultPlan;
  readonly log?: EventLog;
  readonly settings?: Partial<Settings>;
}

export interface ListenOptions {
  /** What the handshake would conclude about a peer; undefined refuses it. Default: what it claims. */
  readonly authenticate?: (peer: Peer) => PeerIdentity | undefined;
  readonly settings?: Partial<Settings>;
}

export interface ConnectOptions {
  /** The caller's host. */
  readonly from: string;
  /** The server's address, listening or not. */
  readonly to: string;
  readonly identity?: PeerIdentity;
  readonly settings?: Partial<Settings>;
}

export function createMemoryNetwork(options: MemoryNetworkOptions): MemoryNetwork {
  return new MemoryNetwork(options);
}

export class MemoryNetwork {
  readonly #ledger: Ledger;
  readonly #settings: Settings;
  readonly #hosts = new Map<string, Host>();
  readonly #links = new Map<string, Link>();
  readonly #listeners = new Map<string, Listener>();
  readonly #refusing = new Set<string>();
  readonly #channels = new Set<MemoryChannel>();
  readonly #plan: FaultPlan;
  #profile: LinkProfile;
  #planTimer: Timer | undefined;
  #lastConnectionId = 0;
  #isClosed = false;

  constructor(options: MemoryNetworkOptions) {
    this.#ledger = new Ledger(options.runtime, options.log);
    this.#settings = { ...defaultSettings, ...options.settings };
    this.#plan = options.faults ?? noFaults;
    this.#profile = this.#plan.profile;
    this.#armPlan(0);
  }

  get open(): Readonly<OpenCounts> {
    return this.#ledger.open;
  }

  get counters(): Readonly<Counters> {
    return this.#ledger.counters;
  }

  /** One listener per address, and only on a host that is up: anything else is a bug of the scenario. */
  listen(address: string, router: ByteRouter, options: ListenOptions = {}): MemoryServer {
    const host = this.#host(hostOf(address));
    assert(!this.#isClosed && host.state === 'up', 'this host is down', { address });
    assert(!this.#listeners.has(address), 'somebody listens here already', { address });
    const listener = new Listener({
      ledger: this.#ledger,
      settings: { ...this.#settings, ...options.settings },
      address,
      host,
      router,
      authenticate: options.authenticate ?? ((peer) => peer.identity),
      onClosed: () => this.#listeners.delete(address),
    });
    this.#listeners.set(address, listener);
    return listener;
  }

  connect(options: ConnectOptions): Channel {
    assert(!this.#isClosed, 'the network is closed');
    const { from, to, identity = { kind: 'unverified' } } = options;
    const channel = new MemoryChannel({
      ledger: this.#ledger,
      settings: { ...this.#settings, ...options.settings },
      host: this.#host(from),
      target: to,
      newConnection: () => this.#newConnection({ address: from, identity }, to),
      onClose: (closed) => this.#channels.delete(closed),
    });
    this.#channels.add(channel);
    return channel;
  }

  isUp(name: string): boolean {
    return this.#host(name).state === 'up';
  }

  /** Called when the host goes down or comes back; returns the unsubscription. */
  watchHost(name: string, watcher: (event: HostEvent) => void): () => void {
    const { watchers } = this.#host(name);
    watchers.add(watcher);
    return () => {
      watchers.delete(watcher);
    };
  }

  /** Forgets the rest of the fault plan. */
  cancelPlan(): void {
    this.#planTimer?.cancel();
  }

  /** Ends everything at once: channels, servers, timers. Only running handlers may remain. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const channel of this.#channels) channel.close();
    for (const listener of this.#listeners.values()) listener.kill();
    const gone = new RpcError('UNAVAILABLE', 'the network is gone');
    for (const host of this.#hosts.values()) {
      for (const half of host.halves) half.die(gone, 'silent');
    }
    this.#ledger.cancelAll();
  }

  /** Now, in addition to the plan. */
  apply(fault: Fault): void {
    if (this.#ledger.isRecording) this.#ledger.record(`! ${faultText(fault)}`);
    switch (fault.kind) {
      case 'partition':
        this.#link(fault.a, fault.b).block();
        this.#link(fault.b, fault.a).block();
        return;
      case 'heal':
        this.#link(fault.a, fault.b).unblock();
        this.#link(fault.b, fault.a).unblock();
        return;
      case 'block':
        this.#link(fault.from, fault.to).block();
        return;
      case 'unblock':
        this.#link(fault.from, fault.to).unblock();
        return;
      case 'crash':
        this.#down(this.#host(fault.host), 'down');
        return;
      case 'vanish':
        this.#down(this.#host(fault.host), 'dark');
        return;
      case 'restart':
        this.#restart(this.#host(fault.host));
        return;
      case 'refuse':
        this.#refusing.add(fault.address);
        return;
      case 'admit':
        this.#refusing.delete(fault.address);
        return;
      case 'reset':
        this.#resetBetween(fault.a, fault.b);
        return;
      case 'profile': {
        const link = this.#link(fault.from, fault.to);
        link.change({ ...link.profile, ...fault.profile });
        return;
      }
      case 'calm':
        this.#calm();
    }
  }

  #armPlan(index: number): void {
    const event = this.#plan.events[index];
    if (event === undefined) return;
    const delayMs = event.atMs - this.#ledger.clock.monotonicMs();
    this.#planTimer = this.#ledger.timers.after(delayMs, () => {
      this.#armPlan(index + 1);
      this.apply(event.fault);
    });
  }

  #down(host: Host, state: 'down' | 'dark'): void {
    if (host.state !== 'up') return;
    host.state = state;
    const farewell = state === 'dark' ? 'silent' : 'reset';
    for (const listener of this.#listeners.values()) {
      if (listener.host === host) listener.down(farewell);
    }
    const error = new RpcError('UNAVAILABLE', `${host.name} died`);
    for (const half of host.halves) half.die(error, farewell);
    for (const watcher of host.watchers) watcher('down');
  }

  #restart(host: Host): void {
    if (host.state === 'up') return;
    host.state = 'up';
    for (const watcher of host.watchers) watcher('up');
  }

  #resetBetween(a: string, b: string): void {
    const error = new RpcError('UNAVAILABLE', 'connection reset');
    for (const half of [...this.#host(a).halves, ...this.#host(b).halves]) {
      const { from, to } = half.connection;
      if ((from === a && to === b) || (from === b && to === a)) half.die(error, 'reset');
    }
  }

  #calm(): void {
    this.#refusing.clear();
    this.#profile = calmLink;
    for (const link of this.#links.values()) {
      link.change(calmLink);
      link.unblockAll();
    }
  }

  #newConnection(peer: Peer, target: string): Connection {
    this.#lastConnectionId += 1;
    const to = hostOf(target);
    return new Connection({
      id: this.#lastConnectionId,
      ledger: this.#ledger,
      up: this.#link(peer.address, to),
      down: this.#link(to, peer.address),
      onDial: (connection) => this.#dialed(connection, peer, target),
    });
  }

  #dialed(connection: Connection, peer: Peer, target: string): void {
    const host = this.#host(hostOf(target));
    if (host.state === 'dark') {
      this.#ledger.counters.droppedPackets += 1;
      return;
    }
    const listener = this.#refusing.has(target) ? undefined : this.#listeners.get(target);
    if (listener !== undefined) {
      listener.dialed(connection, peer);
      return;
    }
    this.#ledger.counters.refusedConnections += 1;
    const half = connection.attach({
      direction: 'down',
      host,
      settings: this.#settings,
      owner: nobody,
    });
    half.die(new RpcError('UNAVAILABLE', `connection refused by ${target}`), 'reset');
  }

  #host(name: string): Host {
    let host = this.#hosts.get(name);
    if (host === undefined) {
      host = new Host(name);
      this.#hosts.set(name, host);
    }
    return host;
  }

  #link(from: string, to: string): Link {
    const key = `${from} ${to}`;
    let link = this.#links.get(key);
    if (link === undefined) {
      link = new Link(this.#ledger, from, to, this.#profile);
      this.#links.set(key, link);
    }
    return link;
  }
}

/** Owns the half that exists only to refuse a dial. */
const nobody: HalfOwner = {
  accepted() {},
  draining() {},
  stray() {},
  idle() {},
  died() {},
};
