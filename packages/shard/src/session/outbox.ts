// The frames that wait to be sent to one operator. Two classes (shard §4.3): must-deliver frames form a FIFO
// that goes first; coalescing frames are keyed, and a newer one takes the place of the queued older
// one, so a slow reader costs one frame per machine and profile, not one per change. A barrier is
// an item of the second queue without a key: it leaves after everything that was queued before it,
// or after what replaced that in place. No I/O, no clock; the stream (outbox-stream.ts) has both.
//
// Bounds: must-deliver 1,024 frames; coalescing one frame per key, that is the cluster's
// population and its demanded profiles.

import { BoundedQueue } from '@bigfleet/base';
import type { ShardFrame } from './frame.ts';

export const MAX_MUST_DELIVER_FRAMES = 1_024;

interface Entry {
  readonly key: string | undefined;
  frame: ShardFrame;
  next: Entry | undefined;
}

export class Outbox {
  readonly #mustDeliver = new BoundedQueue<ShardFrame>(MAX_MUST_DELIVER_FRAMES);
  readonly #byKey = new Map<string, Entry>();
  #head: Entry | undefined;
  #tail: Entry | undefined;
  #coalescingCount = 0;

  get size(): number {
    return this.#mustDeliver.size + this.#coalescingCount;
  }

  /** False when the bound is hit: the session must end, because this frame may not be lost. */
  deliver(frame: ShardFrame): boolean {
    return this.#mustDeliver.push(frame) === 'queued';
  }

  /** True when an older frame of this key was queued and is now replaced. */
  post(key: string, frame: ShardFrame): boolean {
    const queued = this.#byKey.get(key);
    if (queued !== undefined) {
      queued.frame = frame;
      return true;
    }
    const entry: Entry = { key, frame, next: undefined };
    this.#byKey.set(key, entry);
    this.#append(entry);
    return false;
  }

  barrier(frame: ShardFrame): void {
    this.#append({ key: undefined, frame, next: undefined });
  }

  take(): ShardFrame | undefined {
    const first = this.#mustDeliver.shift();
    if (first !== undefined) return first;
    const entry = this.#head;
    if (entry === undefined) return undefined;
    this.#head = entry.next;
    if (this.#head === undefined) this.#tail = undefined;
    if (entry.key !== undefined) this.#byKey.delete(entry.key);
    this.#coalescingCount--;
    return entry.frame;
  }

  clear(): void {
    this.#mustDeliver.clear();
    this.#byKey.clear();
    this.#head = undefined;
    this.#tail = undefined;
    this.#coalescingCount = 0;
  }

  #append(entry: Entry): void {
    if (this.#tail === undefined) this.#head = entry;
    else this.#tail.next = entry;
    this.#tail = entry;
    this.#coalescingCount++;
  }
}
