// Instructions that were carried out, so that one which is delivered again is acknowledged and not
// repeated. Only accepted ones: a failed one is meant to be tried again. The oldest is forgotten
// first; an order that is repeated after that is idempotent by its transfer.

import type { InstructAckInit } from './ack.ts';

const MAX_DONE = 10_000;

export class DoneSet {
  readonly #acks = new Map<string, InstructAckInit>();
  readonly #capacity: number;

  constructor(capacity: number = MAX_DONE) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#acks.size;
  }

  /** The acknowledgement of then; its use makes it the newest. */
  find(instructionId: string): InstructAckInit | undefined {
    const ack = this.#acks.get(instructionId);
    if (ack === undefined) return undefined;
    this.#acks.delete(instructionId);
    this.#acks.set(instructionId, ack);
    return ack;
  }

  add(instructionId: string, ack: InstructAckInit): void {
    this.#acks.delete(instructionId);
    this.#acks.set(instructionId, ack);
    if (this.#acks.size <= this.#capacity) return;
    const [oldest] = this.#acks.keys();
    if (oldest !== undefined) this.#acks.delete(oldest);
  }
}
