// The last events, shared by all streams: a stream is a place in this ring, so one that does not read holds
// nothing. Ids are `<incarnation>.<number>`: numbers count up without a gap, and the incarnation keeps the
// id of a process that has ended from naming an event of this one. Bounded by count and by characters; a
// place that has fallen out of it cannot be resumed.

import { assert } from '@bigfleet/base';

export interface RingLimits {
  readonly maxEvents: number;
  readonly maxChars: number;
}

export const RING_LIMITS: RingLimits = { maxEvents: 20_000, maxChars: 16 * 2 ** 20 };

const ID = /^([0-9a-f]{16})\.(\d{1,15})$/;

export class EventRing {
  readonly #incarnation: string;
  readonly #limits: RingLimits;
  /** A queue whose head moves on; cut off when half of it is empty. */
  #frames: string[] = [];
  #head = 0;
  /** Number of the event at the head. */
  #first = 1;
  #chars = 0;

  constructor(incarnation: string, limits: RingLimits = RING_LIMITS) {
    assert(/^[0-9a-f]{16}$/.test(incarnation), 'an incarnation is 16 hex digits', { incarnation });
    this.#incarnation = incarnation;
    this.#limits = limits;
  }

  /** Number of the newest event; 0 before the first. */
  get newest(): number {
    return this.#first + this.#frames.length - this.#head - 1;
  }

  get chars(): number {
    return this.#chars;
  }

  append(event: string, data: unknown): void {
    const frame = sseFrame({ id: this.idOf(this.newest + 1), event, data });
    this.#frames.push(frame);
    this.#chars += frame.length;
    while (
      this.#frames.length - this.#head > this.#limits.maxEvents ||
      this.#chars > this.#limits.maxChars
    ) {
      this.#chars -= this.#frames[this.#head]?.length ?? 0;
      this.#frames[this.#head] = '';
      this.#head += 1;
      this.#first += 1;
    }
    if (this.#head > this.#frames.length / 2) {
      this.#frames = this.#frames.slice(this.#head);
      this.#head = 0;
    }
  }

  idOf(number: number): string {
    return `${this.#incarnation}.${number}`;
  }

  /** The number behind an id that can be gone on from; undefined when events after it are lost. */
  placeOf(id: string): number | undefined {
    const [, incarnation, digits] = ID.exec(id) ?? [];
    if (incarnation !== this.#incarnation) return undefined;
    const number = Number(digits);
    return this.holds(number) ? number : undefined;
  }

  /** Every event after the number is here. */
  holds(number: number): boolean {
    return number >= this.#first - 1 && number <= this.newest;
  }

  /** The event of a number that `holds` its predecessor. */
  frame(number: number): string {
    const frame = this.#frames[this.#head + number - this.#first];
    assert(frame !== undefined, 'no such event is kept', { number });
    return frame;
  }
}

export interface SseEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}

/** JSON holds no line break, so that one data line is enough. */
export function sseFrame({ id, event, data }: SseEvent): string {
  return sseText({ id, event, json: JSON.stringify(data) });
}

export function sseText(parts: {
  readonly id?: string | undefined;
  readonly event: string;
  readonly json: string;
}): string {
  const { id, event, json } = parts;
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${json}\n\n`;
}
