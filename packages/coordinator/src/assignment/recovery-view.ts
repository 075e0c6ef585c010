// What assignments ask of recovery (coordinator §10.5): whether a shard's ledger is still being put
// together, and what the shard has proved to hold. While it is, a shard is told nothing that it does
// not hold already: the restored ledger may name it for something that another shard has been using
// since.

import type { DomainRow } from '../state/rows.ts';

export interface RecoveryView {
  isRecovering(shardId: string): boolean;
  /** To be sent as `send_held`. */
  asksForHeld(shardId: string): boolean;
  /** By this row: what a shard held before says nothing about a domain that was assigned since. */
  holdsDomain(shardId: string, row: DomainRow): boolean;
  holdsOverride(shardId: string, machineId: string): boolean;
  holdsProvider(shardId: string, name: string): boolean;
}
