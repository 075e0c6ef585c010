// The fleet as an operator sets it up before anybody has reported: the provider that all shards share,
// the shards, and an equal slice of the declared quota for each.

import type { Ledger } from '@bigfleet/coordinator';
import { type FleetShard, PROVIDER, PROVIDER_ADDRESS, REGION } from './fleet-shard.ts';
import { DECLARED_QUOTA } from './judge.ts';

export async function registerFleet(ledger: Ledger, shards: readonly FleetShard[]): Promise<void> {
  const entry = {
    name: PROVIDER,
    address: PROVIDER_ADDRESS,
    region: REGION,
    declaredQuota: DECLARED_QUOTA,
    shards: [],
  };
  await ledger.apply({ kind: 'UpsertProvider', entry });
  for (const { id } of shards) {
    const address = `${id}:7780`;
    await ledger.apply({ kind: 'AddShard', id, address, registeredAtMs: 0 });
  }
  const share = Math.floor(DECLARED_QUOTA / shards.length);
  const perShard = new Map(shards.map(({ id }) => [id, share]));
  await ledger.apply({ kind: 'SetQuota', provider: PROVIDER, region: REGION, perShard });
}
