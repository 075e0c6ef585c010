// Watches: each is a bounded queue of event texts that its reader empties. An event is serialised once,
// whatever the number of watches; a change out of a watch's selection is a DELETED for it. A reader that
// falls too far behind is cut off, as a real server does, so that a stuck one cannot hold the memory.

import type { Runtime, Timer } from '@bigfleet/base';
import type { Obj } from './json.ts';
import type { ObjectTest } from './selectors.ts';
import { type Change, Stored } from './store.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

export interface WatchOptions {
  readonly collection: string;
  /** Prefix of the keys: a namespace, or empty. */
  readonly prefix: string;
  readonly selection: ObjectTest | undefined;
  readonly hasBookmarks: boolean;
  readonly timeoutMs: number;
  /** How an object is written into an event: whole, as a table's row, metadata only. */
  readonly encode: (object: Stored) => string;
  /** The object of a bookmark. */
  readonly bookmark: (isInitialEnd: boolean) => Obj;
  /** Path and query, for faults that match open watches. */
  readonly path: string;
}

const MAX_QUEUED_EVENTS = 200_000;
const BOOKMARK_MS = 60_000;
const BOOKMARK_JITTER = 0.25;
/** The last bookmark comes this long before the watch's own end. */
const LAST_BOOKMARK_MS = 2_000;

export class Watch {
  readonly options: WatchOptions;
  readonly #runtime: Runtime;
  readonly #onEnd: (watch: Watch) => void;
  readonly #deadlineMs: number;
  #queue: string[] = [];
  #waiter: ((result: ReadResult) => void) | undefined;
  #state: 'open' | 'ended' | 'broken' = 'open';
  #isSilent = false;
  #timer: Timer | undefined;

  constructor(runtime: Runtime, options: WatchOptions, onEnd: (watch: Watch) => void) {
    this.#runtime = runtime;
    this.options = options;
    this.#onEnd = onEnd;
    this.#deadlineMs = runtime.clock.monotonicMs() + options.timeoutMs;
    this.#armBookmark();
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Events that are due: as one text, at once or when the first comes. */
  read(): Promise<ReadResult> {
    if (!this.#isSilent) {
      if (this.#queue.length > 0) {
        const text = this.#queue.join('');
        this.#queue = [];
        return Promise.resolve({ kind: 'text', text });
      }
      if (this.#state === 'ended') return Promise.resolve({ kind: 'end' });
    }
    if (this.#state === 'broken') return Promise.resolve({ kind: 'broken' });
    return new Promise((resolve) => {
      this.#waiter = resolve;
    });
  }

  send(type: EventType, object: Stored): void {
    this.#push(type, this.options.encode(object));
  }

  sendBookmark(isInitialEnd: boolean): void {
    this.#push('BOOKMARK', JSON.stringify(this.options.bookmark(isInitialEnd)));
  }

  sendError(status: Obj): void {
    this.#push('ERROR', JSON.stringify(status));
  }

  /** One change of the collection, seen through the selection. */
  follow(change: Change): void {
    const { prefix, selection } = this.options;
    if (!change.key.startsWith(prefix)) return;
    const { before, after, isRemoval } = change;
    const wasIn = before !== undefined && (selection?.(before.object) ?? true);
    const isIn = !isRemoval && (selection?.(after.object) ?? true);
    if (isIn) this.send(wasIn ? 'MODIFIED' : 'ADDED', after);
    else if (wasIn) this.send('DELETED', isRemoval ? after : lastSeen(before, after));
  }

  /** As a server that ends a watch in order. */
  end(): void {
    this.#close('ended');
  }

  /** As a connection that is cut. */
  break(): void {
    this.#queue = [];
    this.#close('broken');
  }

  /** A black hole: events are made and never delivered, and neither is the end. */
  setSilent(isSilent: boolean): void {
    this.#isSilent = isSilent;
    this.#flush();
  }

  #push(type: EventType, text: string): void {
    if (this.#state !== 'open') return;
    if (this.#queue.length >= MAX_QUEUED_EVENTS) {
      this.break();
      return;
    }
    this.#queue.push(`{"type":"${type}","object":${text}}\n`);
    this.#flush();
  }

  #close(state: 'ended' | 'broken'): void {
    if (this.#state !== 'open') return;
    this.#state = state;
    this.#timer?.cancel();
    this.#onEnd(this);
    this.#flush();
  }

  #flush(): void {
    const waiter = this.#waiter;
    if (waiter === undefined) return;
    if (
      this.#isSilent ? this.#state !== 'broken' : this.#queue.length === 0 && this.#state === 'open'
    ) {
      return;
    }
    this.#waiter = undefined;
    this.read().then(waiter, waiter);
  }

  #armBookmark(): void {
    const leftMs = this.#deadlineMs - this.#runtime.clock.monotonicMs();
    const nextMs = BOOKMARK_MS * (1 + this.#runtime.random.float() * BOOKMARK_JITTER);
    if (!this.options.hasBookmarks || leftMs <= LAST_BOOKMARK_MS) {
      this.#timer = this.#runtime.timers.after(leftMs, () => this.end());
      return;
    }
    this.#timer = this.#runtime.timers.after(Math.min(nextMs, leftMs - LAST_BOOKMARK_MS), () => {
      this.sendBookmark(false);
      this.#armBookmark();
    });
  }
}

export type ReadResult =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'end' }
  | { readonly kind: 'broken' };

/** What a watch last selected, under the version of the change that took it out. */
function lastSeen(before: Stored, after: Stored): Stored {
  const metadata = {
    ...(before.object['metadata'] as Obj),
    resourceVersion: String(after.revision),
  };
  return new Stored({ ...before.object, metadata }, after.revision);
}
