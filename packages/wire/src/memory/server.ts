// The server's side of one address: accepts connections, starts calls, stops gracefully within
// a bound. What a stopped or crashed server's handlers still produce goes nowhere.

import type { Peer, PeerIdentity } from '../identity/identity.ts';
import { RpcError } from '../transport/status.ts';
import type { ByteRouter } from '../transport/transport.ts';
import type { Connection } from './connection.ts';
import type { Half, HalfOwner, Host } from './half.ts';
import type { Ledger } from './ledger.ts';
import type { CallPacket, OpenPacket } from './packet.ts';
import { ServerCall } from './server-call.ts';
import type { Settings } from './settings.ts';

export interface MemoryServer {
  readonly address: string;
  /**
   * Refuses new calls at once, lets open ones finish for `graceMs`, then ends them with
   * UNAVAILABLE. Idempotent; the first grace counts.
   */
  stop(graceMs: number): Promise<void>;
  /** As if the process died here and now: connections are reset. Idempotent. */
  kill(): void;
}

export interface ServerOptions {
  readonly ledger: Ledger;
  readonly settings: Settings;
  readonly address: string;
  readonly host: Host;
  readonly router: ByteRouter;
  /** What the transport's handshake would conclude about a peer; undefined refuses it. */
  readonly authenticate: (peer: Peer) => PeerIdentity | undefined;
  /** It listens no longer. */
  readonly onClosed: (server: Listener) => void;
}

export class Listener implements MemoryServer, HalfOwner {
  readonly address: string;
  readonly host: Host;
  readonly #options: ServerOptions;
  readonly #ledger: Ledger;
  readonly #peers = new Map<Half, Peer>();
  readonly #calls = new Set<ServerCall>();
  #isListening = true;
  #stopped: Promise<void> | undefined;
  #onDrained: () => void = () => {};

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#ledger = options.ledger;
    this.address = options.address;
    this.host = options.host;
    this.#ledger.open.listeners += 1;
  }

  /** A dial arrived; `peer` is what the client claims to be. */
  dialed(connection: Connection, peer: Peer): void {
    const { host, settings, authenticate } = this.#options;
    const half = connection.attach({ direction: 'down', host, settings, owner: this });
    const identity = authenticate(peer);
    if (identity === undefined) {
      this.#ledger.counters.refusedConnections += 1;
      half.die(new RpcError('UNAVAILABLE', 'the handshake failed'), 'reset');
      return;
    }
    this.#peers.set(half, { address: peer.address, identity });
    half.opened();
    half.sendControl({ kind: 'accept' });
  }

  stop(graceMs: number): Promise<void> {
    this.#stopped ??= this.#stop(graceMs);
    return this.#stopped;
  }

  kill(): void {
    this.down('reset');
  }

  /** The process or its machine died. */
  down(farewell: 'reset' | 'silent'): void {
    this.#close();
    const error = new RpcError('UNAVAILABLE', 'the server died');
    for (const half of this.#peers.keys()) half.die(error, farewell);
    this.#onDrained();
  }

  accepted(): void {
    this.#ledger.counters.latePackets += 1;
  }

  draining(): void {
    this.#ledger.counters.latePackets += 1;
  }

  idle(half: Half): void {
    if (!this.#isListening) half.linger();
  }

  died(half: Half): void {
    this.#peers.delete(half);
  }

  stray(half: Half, callId: number, packet: CallPacket): void {
    if (packet.kind === 'open') this.#open(half, callId, packet);
    else this.#ledger.counters.latePackets += 1;
  }

  #open(half: Half, key: number, open: OpenPacket): void {
    const peer = this.#peers.get(half);
    const method = this.#options.router.find(open.path);
    const isDuplicate = !Number.isInteger(key);
    if (peer === undefined || (isDuplicate && method?.kind !== 'unary')) {
      this.#ledger.counters.latePackets += 1;
    } else if (!this.#isListening) {
      refuse(half, key, new RpcError('UNAVAILABLE', 'the server is stopping'));
    } else if (method === undefined) {
      refuse(half, key, new RpcError('UNIMPLEMENTED', `unknown method ${open.path}`));
    } else if (half.calls.size >= this.#options.settings.maxCallsPerConnection) {
      refuse(half, key, new RpcError('RESOURCE_EXHAUSTED', 'too many calls on one connection'));
    } else {
      const onOver = (call: ServerCall): void => this.#over(call);
      const call = new ServerCall({ half, key, open, method, peer, onOver });
      this.#calls.add(call);
      call.start();
    }
  }

  #over(call: ServerCall): void {
    this.#calls.delete(call);
    if (this.#calls.size === 0) this.#onDrained();
  }

  async #stop(graceMs: number): Promise<void> {
    this.#close();
    for (const half of this.#peers.keys()) {
      half.sendControl({ kind: 'goaway' });
      if (half.calls.size === 0) half.linger();
    }
    if (this.#calls.size > 0) await this.#drained(graceMs);
    for (const call of this.#calls) call.stop();
  }

  #drained(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#ledger.timers.after(graceMs, resolve);
      this.#onDrained = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  #close(): void {
    if (!this.#isListening) return;
    this.#isListening = false;
    this.#ledger.open.listeners -= 1;
    this.#options.onClosed(this);
  }
}

function refuse(half: Half, key: number, { code, message }: RpcError): void {
  const { connection } = half;
  const lane = connection.lane('down', Math.floor(key));
  const failure = { code, text: message };
  connection.send(lane, { kind: 'status', failure, trailers: new Map(), message: undefined });
  connection.release(lane);
}
