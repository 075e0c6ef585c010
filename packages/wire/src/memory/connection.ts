// What is between the two halves of a connection: the lanes of its packets, and the accidents
// that happen to them. `up` is from the client to the server. When both halves are dead, what
// is still under way vanishes with its timers' work.

import { Half, type HalfEnd } from './half.ts';
import type { Ledger } from './ledger.ts';
import { Lane, type Link } from './link.ts';
import { type OpenPacket, type Packet, packetText } from './packet.ts';

export type Direction = 'up' | 'down';

export interface ConnectionOptions {
  readonly id: number;
  readonly ledger: Ledger;
  readonly up: Link;
  readonly down: Link;
  /** A dial reached the far host, which may attach the server half. */
  readonly onDial: (connection: Connection) => void;
}

export class Connection {
  readonly id: number;
  readonly ledger: Ledger;
  client: Half | undefined;
  server: Half | undefined;
  readonly #up: Link;
  readonly #down: Link;
  readonly #onDial: (connection: Connection) => void;
  readonly #lanes = new Map<Lane, Direction>();
  #lastCallId = 0;
  /** A packet vanished for good: nothing sent after it may arrive, or a stream would have a gap. */
  #isLost = false;

  constructor(options: ConnectionOptions) {
    this.id = options.id;
    this.ledger = options.ledger;
    this.#up = options.up;
    this.#down = options.down;
    this.#onDial = options.onDial;
  }

  /** The client's host. */
  get from(): string {
    return this.#up.from;
  }

  /** The server's host. */
  get to(): string {
    return this.#up.to;
  }

  attach(end: HalfEnd): Half {
    const half = new Half(this, end);
    if (end.direction === 'up') this.client = half;
    else this.server = half;
    return half;
  }

  nextCallId(): number {
    this.#lastCallId += 1;
    return this.#lastCallId;
  }

  /** `callId` is what the receiver looks its call up by; 0 for the connection itself. */
  lane(direction: Direction, callId: number): Lane {
    const lane = new Lane(callId, (packet) => this.#deliver(lane, direction, packet));
    this.#lanes.set(lane, direction);
    return lane;
  }

  /** Its owner sends nothing more on it; what is under way still arrives. */
  release(lane: Lane): void {
    lane.isReleased = true;
    if (lane.queue.length === 0) this.#lanes.delete(lane);
  }

  send(lane: Lane, packet: Packet): void {
    const direction = this.#lanes.get(lane);
    if (direction === undefined || lane.isClosed) return;
    if (this.#isLost) {
      this.ledger.counters.droppedPackets += 1;
      return;
    }
    this.ledger.counters.sentPackets += 1;
    this.#record('>', direction, lane.callId, packet);
    const link = this.#link(direction);
    if (isPayload(packet) && this.#hasAccident(link, direction, lane)) return;
    if (packet.kind === 'open' && packet.message !== undefined) {
      this.#maybeDuplicate(link, lane, packet, packet.message);
    }
    link.send(lane, packet);
  }

  halfDied(): void {
    if (this.client?.state !== 'dead') return;
    if (this.server !== undefined && this.server.state !== 'dead') return;
    for (const [lane, direction] of this.#lanes) this.#link(direction).close(lane);
    this.#lanes.clear();
  }

  #deliver(lane: Lane, direction: Direction, packet: Packet): void {
    if (lane.isReleased && lane.queue.length === 0) this.#lanes.delete(lane);
    const half = direction === 'up' ? this.server : this.client;
    if (half !== undefined && half.state !== 'dead') {
      this.ledger.counters.deliveredPackets += 1;
      this.#record('<', direction, lane.callId, packet);
      half.receive(lane.callId, packet);
      return;
    }
    if (half === undefined && packet.kind === 'dial') {
      this.#record('<', direction, lane.callId, packet);
      this.#onDial(this);
      return;
    }
    this.ledger.counters.latePackets += 1;
    this.#record('x', direction, lane.callId, packet);
    const answers = half?.isSilent === true && half.host.state !== 'dark';
    if (answers && packet.kind !== 'reset') {
      half.sendControl({ kind: 'reset', reason: 'the peer lost this connection' });
    }
  }

  /** Decides whether this packet vanishes, and tells both ends what they can notice of it. */
  #hasAccident(link: Link, direction: Direction, lane: Lane): boolean {
    const { connectionLossProbability, callLossProbability } = link.profile;
    const back = direction === 'up' ? 'down' : 'up';
    if (link.accident(connectionLossProbability)) {
      this.ledger.counters.lostConnections += 1;
      this.#isLost = true;
      const packet: Packet = { kind: 'reset', reason: 'connection lost' };
      link.send(this.#shortLane(direction, 0), packet);
      this.#link(back).send(this.#shortLane(back, 0), packet);
      return true;
    }
    if (link.accident(callLossProbability)) {
      this.ledger.counters.lostCalls += 1;
      link.send(lane, { kind: 'lost' });
      this.#link(back).send(this.#shortLane(back, Math.floor(lane.callId)), { kind: 'lost' });
      return true;
    }
    return false;
  }

  /**
   * The copy runs as a call of its own at the server, under an id that no client uses; the
   * first of the two answers wins.
   */
  #maybeDuplicate(link: Link, lane: Lane, packet: OpenPacket, message: Uint8Array): void {
    if (!link.accident(link.profile.duplicateProbability)) return;
    this.ledger.counters.duplicatedRequests += 1;
    const copy = { ...packet, message: new Uint8Array(message) };
    link.send(this.#shortLane('up', lane.callId + 0.5), copy);
  }

  /** A lane for one packet. */
  #shortLane(direction: Direction, callId: number): Lane {
    const lane = this.lane(direction, callId);
    lane.isReleased = true;
    return lane;
  }

  #link(direction: Direction): Link {
    return direction === 'up' ? this.#up : this.#down;
  }

  #record(mark: '>' | '<' | 'x', direction: Direction, callId: number, packet: Packet): void {
    if (!this.ledger.isRecording) return;
    const { from, to } = this.#link(direction);
    this.ledger.record(`c${this.id}.${callId} ${from}>${to} ${mark} ${packetText(packet)}`);
  }
}

/** Control packets and credits are spared: losing them is a lost connection or a stuck call. */
function isPayload(packet: Packet): boolean {
  switch (packet.kind) {
    case 'open':
    case 'data':
    case 'end':
    case 'status':
      return true;
    default:
      return false;
  }
}
