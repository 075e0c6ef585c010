// What shards last told this leader: never durable, empty after each election. Empty means
// "rebuilding", never "no demand" and never "no capacity". Reports are ordered by (epoch, cycle),
// because cycle restarts with the shard and a zombie must not paint over its successor.

import type { ShardReport, ShardSummary, Shortfall } from '@bigfleet/wire';
import type { Clock } from '@bigfleet/base';

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

// One accepted report as the leader keeps it: replaced as a whole, bounded where a shard could send
// more than it may. The interval between two reports is measured here, by the monotonic clock, and
// has a bound: the first report after an hour of silence must not let a shard count as fresh for hours.

/** coordinator §5.2: priority-ranked by the shard, so the first ones are those that count. */
const MAX_SHORTFALLS = 100;

/** A shard that is silent for longer is reported stale, whatever interval it was told to keep. */
const MAX_INTERVAL_MS = 60_000;

export function pictureOf(
  report: ShardReport,
  previous: ShardPicture | undefined,
  clock: Clock,
): ShardPicture {
  const receivedAtMs = clock.monotonicMs();
  return {
    shardId: report.shardId,
    epoch: report.shardEpoch,
    cycle: report.cycle,
    receivedAtMs,
    receivedAtUnixNanos: clock.unixNanos(),
    intervalMs:
      previous === undefined
        ? undefined
        : Math.min(MAX_INTERVAL_MS, receivedAtMs - previous.receivedAtMs),
    summary: report.summary ?? emptySummary(),
    shortfalls: report.shortfalls.slice(0, MAX_SHORTFALLS),
    providerShared: report.providerShared,
    report,
  };
}

function emptySummary(): ShardSummary {
  return {
    $typeName: 'bigfleet.v1alpha1.ShardSummary',
    totalMachines: 0,
    freeMachines: 0,
    perInstanceTypeCounts: {},
    perZoneCounts: {},
    providerAddress: '',
    idleMachines: 0,
    providers: [],
  };
}
