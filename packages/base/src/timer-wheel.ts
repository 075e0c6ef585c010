// Thousands of deadlines behind one underlying timer. Seven levels of 64 slots: level L holds
// what is due within the current block of 64^(L+1) ticks, in slots of 64^L ticks each. Reaching a
// slot spreads its entries over lower levels, so an entry moves at most six times. Insert and
// cancel are O(1); the underlying timer is armed for the next occupied slot only, so a quiet
// wheel costs nothing. Entries fire in tick order, within one tick in insertion order, up to one
// tick late and never early.

import { assert } from './assert.ts';
import { checkedDelayMs, type Runtime, type Timer } from './runtime/runtime.ts';

const LEVEL_COUNT = 7;
const SLOT_COUNT = 64;
/** Ticks per slot of each level, and the length of the top level at the end. */
const LEVEL_TICKS: readonly number[] = Array.from(
  { length: LEVEL_COUNT + 1 },
  (_, level) => SLOT_COUNT ** level,
);
const LAST_TICK = SLOT_COUNT ** LEVEL_COUNT - 1;
const NEVER = Number.POSITIVE_INFINITY;

export interface TimerWheelOptions {
  /** Resolution: how late an entry may fire, and how finely wake-ups are merged. */
  readonly tickMs: number;
}

/** A member of a circular list; the sentinel of a slot points at itself while the slot is empty. */
class Link {
  previous: Link = this;
  next: Link = this;
}

class Entry extends Link {
  readonly dueTick: number;
  readonly fire: () => void;
  /** Level that holds the entry, or -1 once it has fired or was cancelled. */
  level = -1;

  constructor(dueTick: number, fire: () => void) {
    super();
    this.dueTick = dueTick;
    this.fire = fire;
  }
}

export class TimerWheel {
  readonly #runtime: Pick<Runtime, 'clock' | 'timers'>;
  readonly #tickMs: number;
  readonly #startMs: number;
  readonly #slots: readonly Link[];
  readonly #levelSizes: number[] = new Array<number>(LEVEL_COUNT).fill(0);
  #size = 0;
  /** Everything due before this tick has fired. */
  #elapsedTick = 0;
  #timer: Timer | undefined;
  #timerTick = NEVER;
  #isExpiring = false;

  constructor(runtime: Pick<Runtime, 'clock' | 'timers'>, options: TimerWheelOptions) {
    const { tickMs } = options;
    assert(tickMs > 0 && Number.isFinite(tickMs), 'bad tick', { tickMs });
    this.#runtime = runtime;
    this.#tickMs = tickMs;
    this.#startMs = runtime.clock.monotonicMs();
    this.#slots = Array.from({ length: LEVEL_COUNT * SLOT_COUNT }, () => new Link());
  }

  /** Entries that have neither fired nor been cancelled. */
  get size(): number {
    return this.#size;
  }

  after(delayMs: number, fire: () => void): Timer {
    const elapsedMs = this.#runtime.clock.monotonicMs() - this.#startMs;
    this.#catchUp(Math.floor(elapsedMs / this.#tickMs));
    const dueMs = elapsedMs + checkedDelayMs(delayMs);
    const dueTick = Math.max(Math.ceil(dueMs / this.#tickMs), this.#elapsedTick + 1);
    assert(dueTick <= LAST_TICK, 'deadline beyond the range of the wheel', { delayMs });
    const entry = new Entry(dueTick, fire);
    this.#size++;
    this.#place(entry);
    this.#arm();
    return { cancel: () => this.#cancel(entry) };
  }

  #cancel(entry: Entry): void {
    if (entry.level === -1) return;
    this.#remove(entry);
    // Otherwise the timer stays: it wakes once for nothing, which is cheaper than re-arming it
    // for every cancelled deadline.
    if (this.#size === 0) this.#disarm();
  }

  #place(entry: Entry): void {
    const level = levelOf(entry.dueTick, this.#elapsedTick);
    entry.level = level;
    this.#levelSizes[level] = (this.#levelSizes[level] ?? 0) + 1;
    const slot = Math.floor(entry.dueTick / ticksPerSlot(level)) % SLOT_COUNT;
    append(this.#slot(level, slot), entry);
  }

  #unplace(entry: Entry): void {
    this.#levelSizes[entry.level] = (this.#levelSizes[entry.level] ?? 0) - 1;
    unlink(entry);
    entry.level = -1;
  }

  #remove(entry: Entry): void {
    this.#unplace(entry);
    this.#size--;
  }

  #slot(level: number, slot: number): Link {
    const sentinel = this.#slots[level * SLOT_COUNT + slot];
    assert(sentinel !== undefined, 'slot outside the wheel', { level, slot });
    return sentinel;
  }

  /** Where the earliest entries are. Lower levels always come before higher ones. */
  #nextSlot(): { readonly tick: number; readonly sentinel: Link } | undefined {
    const level = this.#levelSizes.findIndex((size) => size > 0);
    if (level === -1) return undefined;
    const position = Math.floor(this.#elapsedTick / ticksPerSlot(level));
    const blockStart = position - (position % SLOT_COUNT);
    for (let slot = position % SLOT_COUNT; slot < SLOT_COUNT; slot++) {
      const sentinel = this.#slot(level, slot);
      if (sentinel.next !== sentinel) {
        return { tick: (blockStart + slot) * ticksPerSlot(level), sentinel };
      }
    }
    assert(false, 'a level counts entries that no slot holds', { level });
  }

  readonly #wake = (): void => {
    const armedTick = this.#timerTick;
    this.#timer = undefined;
    this.#timerTick = NEVER;
    const nowMs = this.#runtime.clock.monotonicMs();
    const elapsedTick = Math.floor((nowMs - this.#startMs) / this.#tickMs);
    // With a fractional start the subtraction may round to just below the armed tick; its time has
    // come all the same, and waiting for it again would wait 0 ms for ever under virtual time.
    const isArmedTickOver = nowMs >= this.#dueMs(armedTick);
    this.#isExpiring = true;
    try {
      this.#expire(isArmedTickOver ? Math.max(elapsedTick, armedTick) : elapsedTick);
    } finally {
      this.#isExpiring = false;
      // A throwing callback must not strand the other entries: they stay placed and armed.
      this.#arm();
    }
  };

  /** Ends: each round fires or lowers the entries of one slot, and new ones are due later. */
  #expire(nowTick: number): void {
    for (let next = this.#nextSlot(); next !== undefined; next = this.#nextSlot()) {
      if (next.tick > nowTick) break;
      this.#elapsedTick = next.tick;
      this.#empty(next.sentinel);
    }
  }

  /**
   * Moves past ticks in which nothing is due, so that a deadline armed after a quiet time starts
   * on the right level instead of being lowered by wake-ups of its own. The timer is armed for
   * the first occupied slot or earlier, so before its tick there is none. While a late wheel expires no
   * timer is armed, and slots before now are still to be emptied: a callback that arms must not jump them.
   */
  #catchUp(nowTick: number): void {
    if (this.#isExpiring) return;
    if (nowTick < this.#timerTick) this.#elapsedTick = Math.max(this.#elapsedTick, nowTick);
  }

  #empty(sentinel: Link): void {
    while (sentinel.next !== sentinel) {
      const entry = sentinel.next as Entry;
      if (entry.dueTick > this.#elapsedTick) {
        this.#unplace(entry);
        this.#place(entry);
      } else {
        this.#remove(entry);
        entry.fire();
      }
    }
  }

  #arm(): void {
    const next = this.#nextSlot();
    if (next === undefined || next.tick >= this.#timerTick) return;
    this.#disarm();
    this.#timerTick = next.tick;
    const delayMs = this.#dueMs(next.tick) - this.#runtime.clock.monotonicMs();
    this.#timer = this.#runtime.timers.after(delayMs, this.#wake);
  }

  #dueMs(tick: number): number {
    return this.#startMs + tick * this.#tickMs;
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerTick = NEVER;
  }
}

/** The lowest level whose current block contains the tick. */
function levelOf(dueTick: number, elapsedTick: number): number {
  let level = 0;
  while (
    Math.floor(dueTick / ticksPerSlot(level + 1)) !==
    Math.floor(elapsedTick / ticksPerSlot(level + 1))
  ) {
    level++;
  }
  return level;
}

function ticksPerSlot(level: number): number {
  const ticks = LEVEL_TICKS[level];
  assert(ticks !== undefined, 'level outside the wheel', { level });
  return ticks;
}

function append(sentinel: Link, link: Link): void {
  link.previous = sentinel.previous;
  link.next = sentinel;
  sentinel.previous.next = link;
  sentinel.previous = link;
}

function unlink(link: Link): void {
  link.previous.next = link.next;
  link.next.previous = link.previous;
  link.previous = link;
  link.next = link;
}
