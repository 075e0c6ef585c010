// One end of a connection. The two ends learn of each other only through packets, and each dies
// on its own: by a reset that arrives, by its host going down, by a keepalive that nobody
// answers. So half-open connections, silent partitions and power loss come out as they do over
// TCP, without special cases.
//
// States: dialing (client only) → open → dead. Dead is final; a channel dials again.

import type { Timer } from '@bigfleet/base';
import { RpcError } from '../transport/status.ts';
import type { Connection, Direction } from './connection.ts';
import type { Ledger } from './ledger.ts';
import type { Lane } from './link.ts';
import type { CallPacket, ControlPacket, Packet } from './packet.ts';
import type { Settings } from './settings.ts';

/** One end of a call. */
export interface CallEnd {
  receive(packet: CallPacket): void;
  /** The connection is gone. */
  fail(error: RpcError): void;
}

/** The channel or server behind a half. */
export interface HalfOwner {
  accepted(half: Half): void;
  /** The peer wants no new calls here. */
  draining(half: Half): void;
  /** A packet that belongs to no open call. */
  stray(half: Half, callId: number, packet: CallPacket): void;
  /** The last call ended. */
  idle(half: Half): void;
  died(half: Half, error: RpcError): void;
}

export interface HalfEnd {
  /** The direction of what this half sends. */
  readonly direction: Direction;
  readonly host: Host;
  readonly settings: Settings;
  readonly owner: HalfOwner;
}

/** Who hears of a death: the peer by a reset, nobody else needs to, or nobody at all. */
export type Farewell = 'reset' | 'none' | 'silent';

/** Differences of times are not exact; a timer for less than this could fire at the same instant. */
const ROUNDING_MS = 0.001;

export class Half {
  readonly connection: Connection;
  readonly direction: Direction;
  readonly host: Host;
  readonly settings: Settings;
  readonly calls: Map<number, CallEnd> = new Map();
  state: 'dialing' | 'open' | 'dead' = 'dialing';
  /** Died without a word: its host answers what still arrives with a reset. */
  isSilent = false;
  readonly #owner: HalfOwner;
  readonly #ledger: Ledger;
  readonly #control: Lane;
  #lastHeardMs: number;
  #watch: Timer | undefined;
  #isPinged = false;

  constructor(connection: Connection, end: HalfEnd) {
    this.connection = connection;
    this.direction = end.direction;
    this.host = end.host;
    this.settings = end.settings;
    this.#owner = end.owner;
    this.#ledger = connection.ledger;
    this.#control = connection.lane(end.direction, 0);
    this.#lastHeardMs = this.#ledger.clock.monotonicMs();
    this.#ledger.open.connectionHalves += 1;
    this.host.halves.add(this);
  }

  opened(): void {
    this.state = 'open';
    this.#rearm();
  }

  sendControl(packet: ControlPacket): void {
    this.connection.send(this.#control, packet);
  }

  addCall(callId: number, call: CallEnd): void {
    this.calls.set(callId, call);
    if (this.calls.size === 1) this.#rearm();
  }

  removeCall(callId: number): void {
    if (!this.calls.delete(callId) || this.calls.size > 0 || this.state !== 'open') return;
    this.#rearm();
    this.#owner.idle(this);
  }

  receive(callId: number, packet: Packet): void {
    this.#lastHeardMs = this.#ledger.clock.monotonicMs();
    switch (packet.kind) {
      case 'dial':
      case 'pong':
        return;
      case 'ping':
        this.sendControl({ kind: 'pong' });
        return;
      case 'reset':
        this.die(new RpcError('UNAVAILABLE', packet.reason), 'none');
        return;
      case 'accept':
        this.#owner.accepted(this);
        return;
      case 'goaway':
        this.#owner.draining(this);
        return;
      default: {
        const call = this.calls.get(callId);
        if (call === undefined) this.#owner.stray(this, callId, packet);
        else call.receive(packet);
      }
    }
  }

  die(error: RpcError, farewell: Farewell): void {
    if (this.state === 'dead') return;
    this.state = 'dead';
    this.isSilent = farewell === 'silent';
    this.#watch?.cancel();
    this.host.halves.delete(this);
    this.#ledger.open.connectionHalves -= 1;
    if (farewell === 'reset') this.sendControl({ kind: 'reset', reason: error.message });
    const calls = [...this.calls.values()];
    this.calls.clear();
    for (const call of calls) call.fail(error);
    this.#owner.died(this, error);
    this.connection.halfDied();
  }

  /** After a graceful stop: long enough for the last statuses to arrive and the peer to leave. */
  linger(): void {
    if (this.state === 'dead') return;
    this.#watch?.cancel();
    this.#watch = this.#ledger.timers.after(this.settings.keepaliveTimeoutMs, () => {
      this.die(new RpcError('UNAVAILABLE', 'the server stopped'), 'reset');
    });
  }

  /** One timer per half: keepalive while calls are open, the idle timeout otherwise. */
  #rearm(): void {
    if (this.state !== 'open') return;
    this.#isPinged = false;
    const { keepaliveIdleMs, idleTimeoutMs } = this.settings;
    this.#arm(this.calls.size > 0 ? keepaliveIdleMs : idleTimeoutMs);
  }

  #arm(delayMs: number): void {
    this.#watch?.cancel();
    this.#watch = this.#ledger.timers.after(delayMs, this.#expire);
  }

  readonly #expire = (): void => {
    if (this.calls.size === 0) {
      this.die(new RpcError('UNAVAILABLE', 'the connection was idle'), 'reset');
      return;
    }
    const { keepaliveIdleMs, keepaliveTimeoutMs } = this.settings;
    const silentMs = this.#ledger.clock.monotonicMs() - this.#lastHeardMs;
    const limitMs = this.#isPinged ? keepaliveTimeoutMs : keepaliveIdleMs;
    if (limitMs - silentMs > ROUNDING_MS) {
      this.#isPinged = false;
      this.#arm(Math.max(ROUNDING_MS, keepaliveIdleMs - silentMs));
    } else if (!this.#isPinged) {
      this.#isPinged = true;
      this.sendControl({ kind: 'ping' });
      this.#arm(keepaliveTimeoutMs);
    } else {
      this.#ledger.counters.keepaliveTimeouts += 1;
      this.die(new RpcError('UNAVAILABLE', 'keepalive timeout: the peer is silent'), 'reset');
    }
  };
}

/**
 * A host: up, its process dead (the kernel still answers, so dials are refused and connections
 * reset), or dark (power loss: nothing answers). Addresses are `host` or `host:port`.
 */
export type HostState = 'up' | 'down' | 'dark';

export type HostEvent = 'down' | 'up';

export class Host {
  readonly name: string;
  state: HostState = 'up';
  /** The ends of connections that live here. */
  readonly halves: Set<Half> = new Set();
  readonly watchers: Set<(event: HostEvent) => void> = new Set();

  constructor(name: string) {
    this.name = name;
  }
}

export function hostOf(address: string): string {
  return address.replace(/:\d+$/, '');
}
