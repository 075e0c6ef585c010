// The frames of one session on their way: at most `window` unanswered, answers in order, each
// checked against the frame it belongs to. Both sides of a comparison fly the same flights, so
// what differs is how a side moves a message, never how many it has under way.

import type { OperatorMessage, ShardMessage } from '@bigfleet/wire';
import type { Frame } from './messages.ts';
import type { ClientSide } from './side.ts';

export interface FlightPlan {
  /** Cycled through. */
  readonly frames: readonly Frame[];
  readonly count: number;
  readonly window: number;
}

/** Flies a whole session; returns with every frame answered. */
export async function fly(side: ClientSide, plan: FlightPlan): Promise<Flight> {
  const flight = new Flight(plan);
  await side.fly(flight);
  flight.requireLanded();
  return flight;
}

export class Flight {
  /** From handing a frame to the transport until its answer is decoded, in order. */
  readonly latenciesMs: Float64Array;
  answeredCount = 0;
  mostUnanswered = 0;
  lastAnswer: ShardMessage | undefined;
  readonly #plan: FlightPlan;
  readonly #sentAtMs: Float64Array;
  #sentCount = 0;
  #wake: (() => void) | undefined;

  constructor(plan: FlightPlan) {
    this.#plan = plan;
    this.latenciesMs = new Float64Array(plan.count);
    this.#sentAtMs = new Float64Array(plan.count);
  }

  get allSent(): boolean {
    return this.#sentCount === this.#plan.count;
  }

  get hasRoom(): boolean {
    return !this.allSent && this.#sentCount - this.answeredCount < this.#plan.window;
  }

  /** Resolves at the next answer. One waiter: the sending loop. */
  room(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  send(): OperatorMessage {
    const frame = this.#frame(this.#sentCount);
    this.#sentAtMs[this.#sentCount++] = performance.now();
    this.mostUnanswered = Math.max(this.mostUnanswered, this.#sentCount - this.answeredCount);
    return frame.message;
  }

  answer(message: ShardMessage): void {
    const index = this.answeredCount++;
    if (index >= this.#sentCount || keyOf(message) !== this.#frame(index).key) {
      throw new Error(`answer ${index} is not the answer to frame ${index}`);
    }
    this.latenciesMs[index] = performance.now() - (this.#sentAtMs[index] ?? Number.NaN);
    this.lastAnswer = message;
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  /** A session that ended early would otherwise count as a fast one. */
  requireLanded(): void {
    const { count } = this.#plan;
    if (this.answeredCount !== count) {
      throw new Error(`${this.answeredCount} of ${count} frames were answered`);
    }
  }

  #frame(index: number): Frame {
    const frame = this.#plan.frames[index % this.#plan.frames.length];
    if (frame === undefined) throw new Error('a flight needs frames');
    return frame;
  }
}

function keyOf({ payload }: ShardMessage): string | undefined {
  if (payload.case === 'nodeStateUpdate') return payload.value.supersedesKey;
  return payload.case === 'ack' ? payload.value.echo : undefined;
}
