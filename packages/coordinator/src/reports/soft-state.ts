// What shards last told this leader: never durable, empty after each election. Empty means
// "rebuilding", never "no demand" and never "no capacity". Reports are ordered by (epoch, cycle),
// because cycle restarts with the shard and a zombie must not paint over its successor.

import type { ShardReport, ShardSummary, Shortfall } from '@bigfleet/wire';

export interface ShardPicture {
  readonly shardId: string;
  readonly epoch: bigint;
  readonly cycle: bigint;
  /** Monotonic time of acceptance: age is measured by it. */
  readonly receivedAtMs: number;
  /** Wall time of acceptance, for people. */
  readonly receivedAtUnixNanos: bigint;
  /** Between the last two accepted reports, at most a minute; undefined after the first. */
  readonly intervalMs: number | undefined;
  readonly summary: ShardSummary;
  readonly shortfalls: readonly Shortfall[];
  readonly providerShared: boolean;
  readonly report: ShardReport;
}

export class SoftState {
  /** Monotonic; nobody can have been heard before. */
  readonly startedAtMs: number;
  readonly #pictures = new Map<string, ShardPicture>();

  constructor(startedAtMs: number = 0) {
    this.startedAtMs = startedAtMs;
  }

  picture(shardId: string): ShardPicture | undefined {
    return this.#pictures.get(shardId);
  }

  /**
   * Since the shard was last heard, or, of one that this leader has not heard, since it took over: a
   * dead shard stays old over an election, and a live one is not taken for dead right after it.
   */
  silentForMs(shardId: string, nowMs: number): number {
    return Math.max(0, nowMs - (this.#pictures.get(shardId)?.receivedAtMs ?? this.startedAtMs));
  }

  /** By shard id. */
  pictures(): readonly ShardPicture[] {
    return [...this.#pictures.values()].toSorted((a, b) => (a.shardId < b.shardId ? -1 : 1));
  }

  isNewer(shardId: string, epoch: bigint, cycle: bigint): boolean {
    const known = this.#pictures.get(shardId);
    if (known === undefined || epoch > known.epoch) return true;
    return epoch === known.epoch && cycle > known.cycle;
  }

  /** Full replacement, empty shortfalls included: keeping old ones leaves a shard short for ever. */
  replace(picture: ShardPicture): void {
    this.#pictures.set(picture.shardId, picture);
  }

  forget(shardId: string): void {
    this.#pictures.delete(shardId);
  }
}
