// Since which assignment revision a newcomer waits to dial a shared provider. An assignment at least
// as new, of a shard that is there already, names the newcomer's domains as foreign. Remembered, not
// asked of the current revision, or a busy ledger would keep the newcomer waiting for ever. Soft: a
// new leader begins with the revision of its first look, which is later and as good.
// Also which addresses nobody can be dialling, because they were first registered under this leader.
// Bounded by registered shards times the entries that reach them, and by registered addresses.

import type { ProviderRow } from '../state/rows.ts';

interface Wait {
  readonly entry: ProviderRow;
  readonly revision: number;
}

export class Admissions {
  /** By shard, then address. */
  readonly #waits = new Map<string, Map<string, Wait>>();
  readonly #fresh = new Set<string>();

  /** A row that was written again may have left the shard out in between: the wait begins anew. */
  since(shardId: string, entry: ProviderRow, currentRevision: number): bigint {
    const ofShard = this.#waits.get(shardId) ?? new Map<string, Wait>();
    const known = ofShard.get(entry.address);
    const wait = known?.entry === entry ? known : { entry, revision: currentRevision };
    ofShard.set(entry.address, wait);
    this.#waits.set(shardId, ofShard);
    return BigInt(wait.revision);
  }

  /** Entries that no longer reach the shard; coming back is a new admission. */
  keepOnly(shardId: string, addresses: ReadonlySet<string>): void {
    for (const address of this.#waits.get(shardId)?.keys() ?? []) {
      if (!addresses.has(address)) this.#waits.get(shardId)?.delete(address);
    }
  }

  onFirstRegistered(address: string): void {
    this.#fresh.add(address);
  }

  isFresh(address: string): boolean {
    return this.#fresh.has(address);
  }

  forget(shardId: string): void {
    this.#waits.delete(shardId);
  }
}
