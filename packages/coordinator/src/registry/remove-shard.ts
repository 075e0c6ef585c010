// Removing a shard (coordinator §7.1). Its machines pass on at the commit, while a removed process that still
// runs may act for one more interval: with a shared provider that is two owners. So a shard that reported
// within a minute is removed only by force, and so is one that a leader of less than a minute has not heard
// yet. Removing a silent shard is the operator's word that its process is stopped. Its row of soft state
// goes too, so that a successor of the name starts anew.
//
// After a restore the ledger may not know a shard that others name; then the same word, by force, ends the
// wait for it. The word is kept in memory only: a later leader that still has to wait asks again.

import type { SoftState } from '../reports/soft-state.ts';
import { type Outcome, outcomeOf, refused } from '../ledger/outcome.ts';
import type { ProviderOperations } from './providers.ts';

const LIVE_WITHIN_MS = 60_000;

export interface RemoveShardOptions extends ProviderOperations {
  readonly nowMs: () => number;
  /** Drops everything soft about the shard. */
  readonly onRemoved: (shardId: string) => void;
}

export async function removeShard(
  options: RemoveShardOptions,
  shardId: string,
  isForced: boolean,
): Promise<Outcome> {
  const { ledger, soft, recovery, nowMs, onRemoved } = options;
  if (ledger.state.shard(shardId) === undefined && recovery.isNamed(shardId)) {
    if (!isForced) return refused('ABORTED', unknownMessage(shardId));
    recovery.giveUp(shardId);
    return { kind: 'done', index: undefined };
  }
  const isKnown = ledger.state.shard(shardId) !== undefined;
  if (isKnown && !isForced && soft.silentForMs(shardId, nowMs()) < LIVE_WITHIN_MS) {
    const problem = liveProblem(soft, shardId);
    if (problem !== undefined) return refused('ABORTED', problem);
  }
  const result = await ledger.apply({ kind: 'RemoveShard', id: shardId });
  if (result.kind === 'applied') {
    onRemoved(shardId);
    recovery.giveUp(shardId);
  }
  return outcomeOf(result);
}

function liveProblem(soft: SoftState, shardId: string): string | undefined {
  const picture = soft.picture(shardId);
  if (picture === undefined) {
    return (
      `coordinator: this leader took over less than a minute ago and has not heard ${shardId} yet: ` +
      'it may be alive; wait a minute, or stop it and remove it by force'
    );
  }
  if (!picture.report.providerShared) return undefined;
  return `coordinator: shard ${shardId} is alive and shares a provider; stop it first`;
}

function unknownMessage(shardId: string): string {
  return (
    `coordinator: the restored ledger does not know ${shardId}, but other shards do; ` +
    'if its process is stopped for good, say so by force'
  );
}
