// Pending events ordered by (time, insertion sequence): a binary heap whose entries know their
// position, so cancelling removes the entry at once in O(log n). Cancelled events therefore never
// pile up, although nearly every deadline that is armed gets cancelled.

import { assert } from '../assert.ts';

export interface HeapEvent {
  readonly timeMs: number;
  readonly sequence: number;
  readonly fire: () => void;
  /** Position in the heap, or -1 once the event has fired or was cancelled. */
  slot: number;
}

export class EventHeap {
  readonly #events: HeapEvent[] = [];
  #nextSequence = 0;

  get size(): number {
    return this.#events.length;
  }

  peek(): HeapEvent | undefined {
    return this.#events[0];
  }

  push(timeMs: number, fire: () => void): HeapEvent {
    const event: HeapEvent = { timeMs, sequence: this.#nextSequence++, fire, slot: -1 };
    this.#events.push(event);
    this.#siftUp(event, this.#events.length - 1);
    return event;
  }

  remove(event: HeapEvent): void {
    const slot = event.slot;
    if (slot === -1) return;
    assert(this.#events[slot] === event, 'event is not where its slot says', { slot });
    event.slot = -1;
    const last = this.#events.pop();
    if (last === undefined || last === event) return;
    // The moved event may belong above or below the hole; at most one of the two moves it.
    this.#siftDown(last, slot);
    this.#siftUp(last, last.slot);
  }

  #siftUp(event: HeapEvent, from: number): void {
    const events = this.#events;
    let slot = from;
    while (slot > 0) {
      const parent = events[(slot - 1) >> 1];
      if (parent === undefined || isBefore(parent, event)) break;
      const parentSlot = parent.slot;
      events[slot] = parent;
      parent.slot = slot;
      slot = parentSlot;
    }
    events[slot] = event;
    event.slot = slot;
  }

  #siftDown(event: HeapEvent, from: number): void {
    const events = this.#events;
    let slot = from;
    for (;;) {
      const left = events[2 * slot + 1];
      if (left === undefined) break;
      const right = events[2 * slot + 2];
      const child = right !== undefined && isBefore(right, left) ? right : left;
      if (isBefore(event, child)) break;
      const childSlot = child.slot;
      events[slot] = child;
      child.slot = slot;
      slot = childSlot;
    }
    events[slot] = event;
    event.slot = slot;
  }
}

function isBefore(a: HeapEvent, b: HeapEvent): boolean {
  return a.timeMs < b.timeMs || (a.timeMs === b.timeMs && a.sequence < b.sequence);
}
