// One direction between two hosts: latency, bandwidth, and whether anything passes at all.
// A lane is an ordered path over a link (one per call and direction, one for a connection's own
// packets): order is kept within a lane, as HTTP/2 over TCP keeps it within a stream, and not
// between lanes, so that different calls overtake each other.
//
// A blocked link loses nothing: what is sent meanwhile, and what was under way, arrives after
// the block, as TCP's retransmission would have it, unless its connection died in between. What
// can pile up there is bounded by the windows of the calls.

import type { Random } from '@bigfleet/base';
import { type LinkProfile, microseconds } from './faults.ts';
import type { Ledger } from './ledger.ts';
import { type Packet, packetBytes } from './packet.ts';

export class Lane {
  readonly callId: number;
  readonly queue: Packet[] = [];
  readonly deliver: (packet: Packet) => void;
  /** A packet never arrives before the one that was sent ahead of it. */
  lastArrivalMs = 0;
  /** Nothing more will be sent on it. */
  isReleased = false;
  /** Nothing more arrives from it. */
  isClosed = false;

  constructor(callId: number, deliver: (packet: Packet) => void) {
    this.callId = callId;
    this.deliver = deliver;
  }
}

export class Link {
  readonly from: string;
  readonly to: string;
  readonly #ledger: Ledger;
  readonly #latencies: Random;
  readonly #accidents: Random;
  /** Packets per lane that wait for the block to end. */
  readonly #stalled = new Map<Lane, number>();
  #profile: LinkProfile;
  #blockCount = 0;
  #busyUntilMs = 0;

  constructor(ledger: Ledger, from: string, to: string, profile: LinkProfile) {
    this.from = from;
    this.to = to;
    this.#profile = profile;
    this.#ledger = ledger;
    const random = ledger.runtime.random.stream('network').stream(`${from} ${to}`);
    this.#latencies = random.stream('latency');
    this.#accidents = random.stream('accident');
  }

  get profile(): LinkProfile {
    return this.#profile;
  }

  /** What a slow link still had to carry does not hold up what is sent at the new speed. */
  change(profile: LinkProfile): void {
    this.#profile = profile;
    this.#busyUntilMs = 0;
  }

  send(lane: Lane, packet: Packet): void {
    lane.queue.push(packet);
    if (this.#blockCount > 0) this.#stall(lane);
    else this.#schedule(lane, packetBytes(packet));
  }

  /** Draws only for a probability above zero: switching a fault off must not shift the others. */
  accident(probability: number): boolean {
    return probability > 0 && this.#accidents.float() < probability;
  }

  /** Overlapping blocks add up: the link is open again when the last one ended. */
  block(): void {
    this.#blockCount += 1;
  }

  unblock(): void {
    if (this.#blockCount === 0) return;
    this.#blockCount -= 1;
    if (this.#blockCount === 0) this.#resume();
  }

  unblockAll(): void {
    if (this.#blockCount === 0) return;
    this.#blockCount = 0;
    this.#resume();
  }

  /** The lane's packets vanish. */
  close(lane: Lane): void {
    if (lane.isClosed) return;
    lane.isClosed = true;
    this.#ledger.counters.droppedPackets += lane.queue.length;
    lane.queue.length = 0;
    this.#ledger.open.stalledPackets -= this.#stalled.get(lane) ?? 0;
    this.#stalled.delete(lane);
  }

  #schedule(lane: Lane, bytes: number): void {
    const nowMs = this.#ledger.clock.monotonicMs();
    const { bytesPerMs } = this.#profile;
    const transferMs = bytesPerMs === undefined ? 0 : bytes / bytesPerMs;
    this.#busyUntilMs = Math.max(nowMs, this.#busyUntilMs) + transferMs;
    const arrivalMs = Math.max(this.#busyUntilMs + this.#latencyMs(), lane.lastArrivalMs);
    lane.lastArrivalMs = arrivalMs;
    this.#ledger.timers.after(microseconds(arrivalMs - nowMs), () => this.#arrive(lane));
  }

  /** Whichever timer fires, the lane's oldest packet arrives: order never depends on timers. */
  #arrive(lane: Lane): void {
    if (lane.isClosed) return;
    if (this.#blockCount > 0) {
      this.#stall(lane);
      return;
    }
    const packet = lane.queue.shift();
    if (packet !== undefined) lane.deliver(packet);
  }

  #stall(lane: Lane): void {
    this.#stalled.set(lane, (this.#stalled.get(lane) ?? 0) + 1);
    this.#ledger.open.stalledPackets += 1;
  }

  #resume(): void {
    const stalled = [...this.#stalled];
    this.#stalled.clear();
    for (const [lane, count] of stalled) {
      this.#ledger.open.stalledPackets -= count;
      for (let i = 0; i < count; i += 1) this.#schedule(lane, packetBytes(queued(lane, i)));
    }
  }

  #latencyMs(): number {
    const { minMs, maxMs, tailProbability, tailMs } = this.#profile.latency;
    const isTail = tailProbability > 0 && this.#latencies.float() < tailProbability;
    const highestMs = isTail ? Math.max(tailMs, maxMs) : maxMs;
    if (highestMs <= minMs) return minMs;
    return microseconds(minMs + this.#latencies.float() * (highestMs - minMs));
  }
}

function queued(lane: Lane, index: number): Packet {
  const packet = lane.queue[index];
  if (packet === undefined) throw new RangeError('a lane stalls more packets than it holds');
  return packet;
}
