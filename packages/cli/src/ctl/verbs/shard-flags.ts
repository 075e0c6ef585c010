// How verbs choose shards: by id, through the coordinator, or by address, without it.

import { type Repeatable, texts } from '@bigfleet/process/flags';

export type ShardFlags = {
  readonly shard: Repeatable<string>;
  readonly 'shard-addr': Repeatable<string>;
};

export const shardFlags: ShardFlags = {
  shard: texts('only this shard; none is all', '<id>'),
  'shard-addr': texts('dial this shard, without asking the coordinator', '<addr>'),
};

/** Ids are looked up, addresses are not: together they would say two things. */
export function shardFlagsProblem(values: {
  readonly shard: readonly string[];
  readonly 'shard-addr': readonly string[];
}): string | undefined {
  return values.shard.length > 0 && values['shard-addr'].length > 0
    ? 'give --shard or --shard-addr, not both'
    : undefined;
}
