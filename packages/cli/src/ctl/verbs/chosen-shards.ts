// For verbs that change shards: which ones must be said. A pause of everything by a forgotten flag
// is what --all is for.

import { type Flag, toggle } from '@bigfleet/process/flags';
import { type ShardFlags, shardFlags, shardFlagsProblem } from './shard-flags.ts';

export type ChosenFlags = ShardFlags & { readonly all: Flag<boolean> };

export const chosenFlags: ChosenFlags = {
  ...shardFlags,
  shard: { ...shardFlags.shard, help: 'this shard' },
  all: toggle(false, 'every registered shard'),
};

export interface ChosenValues {
  readonly shard: readonly string[];
  readonly 'shard-addr': readonly string[];
  readonly all: boolean;
}

export function chosenProblem(values: ChosenValues): string | undefined {
  const isNamed = values.shard.length > 0 || values['shard-addr'].length > 0;
  if (isNamed && values.all) return 'give --all or name shards, not both';
  if (!isNamed && !values.all) return 'give --shard, --shard-addr or --all';
  return shardFlagsProblem(values);
}
