// Which shards hold a machine, or the needs of a cluster. Asked first, because explaining and
// reading records on a shard that never heard of the subject means reading all it keeps. When nobody
// holds it any more, every chosen shard may still remember it.

import { BigFleetError } from '@bigfleet/base';
import type { Links } from '../connect/links.ts';
import type { ShardTarget } from '../connect/shards.ts';
import { EVERYTHING } from '../kinds/kind.ts';
import { fetchMachines } from '../kinds/machines.ts';
import { isNamedNeed, type NeedName, type NeedRef } from '../kinds/need-name.ts';
import { fetchNeeds } from '../kinds/needs.ts';

export interface Holders {
  readonly shards: readonly ShardTarget[];
  readonly problems: readonly string[];
}

export async function holdersOfMachine(
  links: Links,
  shards: readonly ShardTarget[],
  machineId: string,
): Promise<Holders> {
  if (shards.length <= 1) return { shards, problems: [] };
  const asked = await links.shards.askAll(shards, 'list machines', (api, call) =>
    fetchMachines(api, call, { ...EVERYTHING, machines: [machineId] }),
  );
  const answers = asked.answers.filter(({ value }) => value.views.length > 0);
  const holding = answers.map(({ shard }) => shard);
  return among(shards, holding, asked.problems);
}

export async function holdersOfNeed(
  links: Links,
  shards: readonly ShardTarget[],
  name: NeedName,
): Promise<Holders & { readonly ref: NeedRef }> {
  if (name.kind === 'exact' && shards.length <= 1) return { shards, problems: [], ref: name.ref };
  const { clusterId } = name;
  const asked = await links.shards.askAll(shards, 'inspect needs', (api, call) =>
    fetchNeeds(api, call, { ...EVERYTHING, clusters: [clusterId] }),
  );
  const matching = asked.answers
    .flatMap(({ shard, value }) =>
      value.views.map(({ profileFingerprint, need }) => ({
        shard,
        ref: { clusterId, profileFingerprint, group: need?.group ?? '' },
      })),
    )
    .filter(({ ref }) => isNamedNeed(name, ref));
  const ref = name.kind === 'exact' ? name.ref : matching[0]?.ref;
  if (ref === undefined) {
    throw new BigFleetError(
      'thing_not_found',
      `no shard holds a need ${name.kind === 'short' ? name.short : ''} of cluster ${clusterId}`,
    );
  }
  const holding = matching.map(({ shard }) => shard);
  return { ...among(shards, holding, asked.problems), ref };
}

function among(
  all: readonly ShardTarget[],
  holding: readonly ShardTarget[],
  problems: readonly string[],
): Holders {
  const distinct = all.filter((shard) => holding.includes(shard));
  return { shards: distinct.length > 0 ? distinct : all, problems };
}
