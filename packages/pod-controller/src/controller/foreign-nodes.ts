// Which nodes BigFleet owns (kubernetes §5.1, decision 7): those with the machine's label, and those
// that an UpcomingNode names. A node is judged foreign only when both sets are complete and the node has
// stood for a while: a wrong mark withdraws the demand of Pods that run.

import type { Runtime, Timer } from '@bigfleet/base';
import type { NodeRecord } from './records.ts';

/** A joining node may come before its label and before its UpcomingNode. */
const YOUNG_MS = 300_000;

export interface ForeignNodesOptions {
  readonly runtime: Runtime;
  /** Both collections had their first full list. */
  readonly areComplete: () => boolean;
  /** The verdict about a node may have changed. */
  readonly onChange: (nodeName: string) => void;
}

export class ForeignNodes {
  readonly #options: ForeignNodesOptions;
  readonly #nodes = new Map<string, NodeRecord>();
  /** UpcomingNode to the node that it names. */
  readonly #named = new Map<string, string>();
  readonly #namedCount = new Map<string, number>();
  readonly #timers = new Map<string, Timer>();

  constructor(options: ForeignNodesOptions) {
    this.#options = options;
  }

  isForeign(nodeName: string): boolean {
    const node = this.#nodes.get(nodeName);
    if (nodeName === '' || node === undefined || !this.#options.areComplete()) return false;
    return !node.isLabelled && !this.#namedCount.has(nodeName) && this.#ageMs(node) >= YOUNG_MS;
  }

  nodeChanged(name: string, node: NodeRecord): void {
    this.#nodes.set(name, node);
    this.#timers.get(name)?.cancel();
    this.#timers.delete(name);
    const leftMs = YOUNG_MS - this.#ageMs(node);
    if (!node.isLabelled && leftMs > 0) {
      const timer = this.#options.runtime.timers.after(leftMs, () => this.#options.onChange(name));
      this.#timers.set(name, timer);
    }
    this.#options.onChange(name);
  }

  nodeGone(name: string): void {
    this.#nodes.delete(name);
    this.#timers.get(name)?.cancel();
    this.#timers.delete(name);
  }

  /** `nodeName` is empty while the UpcomingNode names none. */
  upcomingChanged(key: string, nodeName: string): void {
    const before = this.#named.get(key) ?? '';
    if (before === nodeName) return;
    if (nodeName === '') this.#named.delete(key);
    else this.#named.set(key, nodeName);
    this.#count(before, -1);
    this.#count(nodeName, 1);
  }

  close(): void {
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  #count(nodeName: string, change: number): void {
    if (nodeName === '') return;
    const count = (this.#namedCount.get(nodeName) ?? 0) + change;
    if (count > 0) this.#namedCount.set(nodeName, count);
    else this.#namedCount.delete(nodeName);
    this.#options.onChange(nodeName);
  }

  #ageMs(node: NodeRecord): number {
    const nowMs = Number(this.#options.runtime.clock.unixNanos() / 1_000_000n);
    return nowMs - node.createdUnixMs;
  }
}
