// Providers that a shard may be dialling by now: those of its last report, and those of the reply to
// it. Its next report shows whether the reply arrived. A rule that believed reports alone would give
// the same provider to two shards within one interval. Only addresses that mean the same provider for
// every shard are told apart here.

import type { ShardAssignment, ShardReport } from '@bigfleet/wire';
import { dialledProviders, dialsByFlag, isFleetWide } from '../reports/dialled-providers.ts';
import type { SoftState } from '../reports/soft-state.ts';

export interface MaybeDialled {
  readonly address: string;
  readonly isShared: boolean;
}

export class ToldProviders {
  readonly #soft: SoftState;
  readonly #told = new Map<string, readonly MaybeDialled[]>();

  constructor(soft: SoftState) {
    this.#soft = soft;
  }

  onReport(shardId: string): void {
    this.#told.delete(shardId);
  }

  /** A shard with flags of its own does not act on it. */
  onSent(report: ShardReport, assignment: ShardAssignment): void {
    if (dialsByFlag(report)) return;
    const told = assignment.providers.map(({ address, shared: isShared }) => ({
      address,
      isShared,
    }));
    this.#told.set(report.shardId, told);
  }

  forget(shardId: string): void {
    this.#told.delete(shardId);
  }

  /** An address twice, when report and reply differ about it. */
  maybeDialledBy(shardId: string): readonly MaybeDialled[] {
    const report = this.#soft.picture(shardId)?.report;
    const reported = report === undefined ? [] : dialledProviders(report);
    const told = this.#told.get(shardId) ?? [];
    return [...reported, ...told].filter(({ address }) => isFleetWide(address));
  }
}
