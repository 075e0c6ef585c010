// The pulls of one cluster that its operator is asked for now, and those that wait. An operator holds
// 256 answers, and a session ends when 1,024 frames wait for it: a shard that asked for thousands of
// blobs at once would end the session, ask its successor for the same thousands, and never bind a
// machine. Pure bookkeeping, first come first asked.
//
// Bound: `limit` asked per cluster; those that wait are bounded by the caller.

interface Line<T> {
  readonly asked: Set<T>;
  readonly waiting: Set<T>;
}

export class AskingWindow<T> {
  readonly #limit: number;
  readonly #lines = new Map<string, Line<T>>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** `advance` says when it is to be asked: at once, if there is room. */
  enter(cluster: string, item: T): void {
    let line = this.#lines.get(cluster);
    if (line === undefined) {
      line = { asked: new Set(), waiting: new Set() };
      this.#lines.set(cluster, line);
    }
    line.waiting.add(item);
  }

  /** Answered or given up, asked or not. */
  leave(cluster: string, item: T): void {
    const line = this.#lines.get(cluster);
    if (line === undefined) return;
    line.asked.delete(item);
    line.waiting.delete(item);
    if (line.asked.size + line.waiting.size === 0) this.#lines.delete(cluster);
  }

  /** Oldest first. */
  askedOf(cluster: string): readonly T[] {
    return [...(this.#lines.get(cluster)?.asked ?? [])];
  }

  /** Those whose turn it is now; they count as asked from here on. */
  advance(cluster: string): readonly T[] {
    const line = this.#lines.get(cluster);
    if (line === undefined) return [];
    const turn: T[] = [];
    for (const item of line.waiting) {
      if (line.asked.size >= this.#limit) break;
      line.waiting.delete(item);
      line.asked.add(item);
      turn.push(item);
    }
    return turn;
  }
}
