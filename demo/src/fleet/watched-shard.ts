// One shard as its live feed tells it, with what came of the needs of its clusters.

import type { Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { WatchFrame } from '@bigfleet/wire';
import { Coverage, type CoverageReport } from '../feed/coverage.ts';
import type { Decisions } from '../feed/decisions.ts';
import { FleetPicture } from '../feed/fleet-picture.ts';
import { followShard } from '../feed/follow-shard.ts';
import type { ShardName } from '../places.ts';
import { soldTypes } from '../provider/shapes.ts';

export interface WatchedShardOptions {
  readonly runtime: Runtime;
  readonly name: ShardName;
  readonly target: string;
  readonly logger: Logger;
  /** Of all shards, in the order in which they are heard. */
  readonly decisions: Decisions;
}

export class WatchedShard {
  readonly name: ShardName;
  readonly target: string;
  readonly picture: FleetPicture = new FleetPicture();
  readonly #options: WatchedShardOptions;
  readonly #coverage = new Coverage(soldTypes);

  constructor(options: WatchedShardOptions) {
    this.name = options.name;
    this.target = options.target;
    this.#options = options;
  }

  /** Until the signal. */
  async follow(signal: AbortSignal): Promise<void> {
    const { runtime, target, logger } = this.#options;
    const onFrame = (frame: WatchFrame): void => this.#take(frame);
    await followShard({ runtime, target, logger, onFrame }, signal);
  }

  coverage(nowMs: number): CoverageReport {
    return this.#coverage.report(nowMs);
  }

  #take(frame: WatchFrame): void {
    const { decisions, runtime } = this.#options;
    if (frame.frame.case === 'record') decisions.add(frame.frame.value.payload);
    if (!this.picture.apply(frame)) return;
    this.#coverage.observe(this.picture, runtime.clock.monotonicMs());
  }
}
