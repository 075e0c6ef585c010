// What the leader's loops tell about themselves (coordinator §11.2): for metrics, which they do not
// know. Every callback is synchronous and cheap; none may throw. Values that are only read
// (heartbeat ages, open transfers) are asked of the soft state and the ledger at each scrape.

import type { Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { Ledger } from '../ledger/ledger.ts';

export type ReportResult = 'accepted' | 'stale' | 'denied' | 'not_leader';

export type MoveTier = '1' | '2' | '3';
export type MoveResult = 'emitted' | 'accepted' | 'rejected' | 'failed' | 'aborted' | 'committed';

export interface CoordinatorObserver {
  onReport(result: ReportResult): void;
  onPendingInstructions(shardId: string, count: number): void;
  onUnregisteredProvider(shardId: string, isUnregistered: boolean): void;
  /** Every series of that shard is to be dropped. */
  onShardRemoved(shardId: string): void;
  onOwnershipConflict(): void;
  onClusterBindingConflict(): void;
  /** A report named a term so far above ours that it was not believed (coordinator §10.3). */
  onTermJumpRefused(): void;
  onRebalancePass(): void;
  onRebalanceMove(tier: MoveTier, result: MoveResult): void;
}

/** What every loop of one leadership has. */
export interface LeaderContext {
  readonly ledger: Ledger;
  readonly runtime: Runtime;
  readonly log: Logger;
  readonly observer: CoordinatorObserver;
}
