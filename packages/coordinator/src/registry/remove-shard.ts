// Removing a shard (§7.1). What it owned passes on at the commit, while a removed process that still
// runs may act for one more interval: with a shared provider that is two owners, so a shard that was
// heard within a minute is removed only by force. Removing a silent one is the operator's word that
// its process is stopped. Everything soft about it goes too: a successor of the name starts anew.

import type { Ledger } from '../ledger.ts';
import type { SoftState } from '../reports/soft-state.ts';
import { type Outcome, outcomeOf, refused } from './outcome.ts';

const LIVE_WITHIN_MS = 60_000;

export interface RemoveShardOptions {
  readonly ledger: Ledger;
  readonly soft: SoftState;
  readonly nowMs: () => number;
  /** Everybody who keeps something about a shard. */
  readonly onRemoved: (shardId: string) => void;
}

export async function removeShard(
  options: RemoveShardOptions,
  shardId: string,
  isForced: boolean,
): Promise<Outcome> {
  const { ledger, soft, nowMs, onRemoved } = options;
  const picture = soft.picture(shardId);
  const isLive = picture !== undefined && nowMs() - picture.receivedAtMs < LIVE_WITHIN_MS;
  if (isLive && picture.providerShared && !isForced && ledger.state.shard(shardId) !== undefined) {
    const message = `coordinator: shard ${shardId} is alive and shares a provider; stop it first`;
    return refused('ABORTED', message);
  }
  const result = await ledger.apply({ kind: 'RemoveShard', id: shardId });
  if (result.kind === 'applied') onRemoved(shardId);
  return outcomeOf(result);
}
