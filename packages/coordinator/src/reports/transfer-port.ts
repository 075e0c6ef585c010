// What report handling needs of the transfer sagas (coordinator §9.6), which live elsewhere: they
// hear what a shard holds durable state for, and say which of it the shard may forget. Both calls
// are synchronous: a saga notes what it heard and goes on in its own loop, so that a slow commit
// never holds a report.

import type { TransferStatus } from '@bigfleet/wire';

export interface TransferPort {
  /** Every accepted report, also with none: silence about a transfer is news too. */
  onStatuses(shardId: string, statuses: readonly TransferStatus[]): void;
  /** Of the transfers that this shard just named: those whose record is gone or finished. */
  retiredOf(shardId: string, statuses: readonly TransferStatus[]): readonly string[];
}
