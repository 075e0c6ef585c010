// Who else is there, told to every shard with its foreign domains: each shard that may share a provider
// with it stands among them as a domain of its own name, which no machine has. A shard keeps the list with
// its assignment, so that after a restore from before the other's registration somebody still knows
// that the other exists, although it is silent (recovery-machine.ts). To a shard of an older build it is
// one more domain that is not its own.

import type { DomainRef } from '@bigfleet/wire';

const SHARER_KEY = 'bigfleet.lucy.sh/shard';

export function sharerMarks(shardIds: readonly string[]): readonly DomainRef[] {
  return shardIds.map((shardId) => ({
    $typeName: 'bigfleet.ext.v1alpha1.DomainRef',
    topologyKey: SHARER_KEY,
    topologyValue: shardId,
    shardId,
  }));
}
