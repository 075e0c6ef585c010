// The flags that every verb takes (coordinator §12.2), those of the verbs that list, and how verbs
// choose shards: by id, through the coordinator, or by address, without it.

import type { ShardSelection } from '../connect/shards.ts';
import { duration, type FlagValues, oneOf, text, texts, toggle } from '@bigfleet/process/flags';

const OUTPUT_FORMS = ['table', 'wide', 'json', 'yaml'] as const;

export type OutputForm = (typeof OUTPUT_FORMS)[number];

export const globalFlags = {
  coordinator: text('127.0.0.1:7790', 'address of the coordinator; several with commas', '<addr>'),
  timeout: duration('10s', 'for each call; snapshot save takes as long as it needs'),
  'tls-cert': text('', 'certificate chain; all three or none', '<file>'),
  'tls-key': text('', 'its key', '<file>'),
  'tls-ca': text('', 'the one trust root', '<file>'),
  context: text('', 'context of the config file; empty is the current one', '<name>'),
  config: text('', 'config file; empty is ~/.config/bigfleetctl/config.yaml', '<file>'),
  output: { ...oneOf('table', OUTPUT_FORMS, 'how to print'), short: 'o' },
};

export type GlobalFlags = typeof globalFlags;

export const watchFlags = {
  watch: { ...toggle(false, 'print again and again until Ctrl-C'), short: 'w' },
  interval: duration('2s', 'between two prints of --watch'),
};

export const shardFlags = {
  shard: texts('only this shard; none is all', '<id>'),
  'shard-addr': texts('dial this shard, without asking the coordinator', '<addr>'),
};

export type ShardChoice = FlagValues<typeof shardFlags>;

export function shardSelection({ shard, 'shard-addr': addresses }: ShardChoice): ShardSelection {
  return { shards: shard, addresses };
}

/** Ids are looked up, addresses are not: together they would say two things. */
export function shardFlagsProblem(values: ShardChoice): string | undefined {
  return values.shard.length > 0 && values['shard-addr'].length > 0
    ? 'give --shard or --shard-addr, not both'
    : undefined;
}

/**
 * For verbs that change shards: which ones must be said. A pause of everything by a forgotten flag is
 * what --all is for.
 */
export const chosenFlags = {
  ...shardFlags,
  shard: { ...shardFlags.shard, help: 'this shard' },
  all: toggle(false, 'every registered shard'),
};

export function chosenProblem(values: FlagValues<typeof chosenFlags>): string | undefined {
  const isNamed = values.shard.length > 0 || values['shard-addr'].length > 0;
  if (isNamed && values.all) return 'give --all or name shards, not both';
  if (!isNamed && !values.all) return 'give --shard, --shard-addr or --all';
  return shardFlagsProblem(values);
}
