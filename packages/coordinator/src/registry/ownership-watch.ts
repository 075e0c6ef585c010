// Two shards that dial one provider without both declaring it shared both own everything it lists
// (coordinator §9.2). Provider fencing does not arbitrate between shard ids, so nothing else would
// notice: it is counted once per provider, logged every minute while it lasts, and no transfer may
// touch it.
// Fed by every accepted report; per report the cost is that of the addresses the shard names.

import type { Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { ShardReport } from '@bigfleet/wire';
import type { CoordinatorObserver } from '../metrics/observer.ts';
import { dialledProviders, isFleetWide } from '../reports/dialled-providers.ts';

const LOG_EVERY_MS = 60_000;

export interface OwnershipWatchOptions {
  readonly runtime: Pick<Runtime, 'clock'>;
  readonly log: Logger;
  readonly observer: CoordinatorObserver;
}

export class OwnershipWatch {
  readonly #options: OwnershipWatchOptions;
  /** Whether each shard that dials an address declares it shared. */
  readonly #dialled = new Map<string, Map<string, boolean>>();
  readonly #addressesOf = new Map<string, ReadonlySet<string>>();
  /** When to log again, by address in conflict. */
  readonly #conflicts = new Map<string, number>();

  constructor(options: OwnershipWatchOptions) {
    this.#options = options;
  }

  onReport(report: ShardReport): void {
    const { shardId } = report;
    const dialled = dialledProviders(report).filter(({ address }) => isFleetWide(address));
    const touched = new Set([
      ...(this.#addressesOf.get(shardId) ?? []),
      ...dialled.map(({ address }) => address),
    ]);
    this.#detach(shardId);
    this.#addressesOf.set(shardId, new Set(dialled.map(({ address }) => address)));
    for (const { address, isShared } of dialled) {
      const shards = this.#dialled.get(address) ?? new Map<string, boolean>();
      shards.set(shardId, isShared);
      this.#dialled.set(address, shards);
    }
    for (const address of touched) this.#check(address);
  }

  forget(shardId: string): void {
    const touched = this.#addressesOf.get(shardId) ?? new Set<string>();
    this.#detach(shardId);
    this.#addressesOf.delete(shardId);
    for (const address of touched) this.#check(address);
  }

  isConflicted(address: string): boolean {
    return this.#conflicts.has(address);
  }

  #detach(shardId: string): void {
    for (const address of this.#addressesOf.get(shardId) ?? []) {
      const shards = this.#dialled.get(address);
      shards?.delete(shardId);
      if (shards?.size === 0) this.#dialled.delete(address);
    }
  }

  #check(address: string): void {
    const { runtime, log, observer } = this.#options;
    const shards = this.#dialled.get(address) ?? new Map<string, boolean>();
    if (shards.size < 2 || ![...shards.values()].includes(false)) {
      this.#conflicts.delete(address);
      return;
    }
    const nowMs = runtime.clock.monotonicMs();
    const logAtMs = this.#conflicts.get(address);
    if (logAtMs === undefined) observer.onOwnershipConflict();
    if (logAtMs !== undefined && nowMs < logAtMs) return;
    this.#conflicts.set(address, nowMs + LOG_EVERY_MS);
    const fields = { provider_address: address, shards: [...shards.keys()].toSorted() };
    log.error('provider is dialled by several shards and not declared shared by all', fields);
  }
}
