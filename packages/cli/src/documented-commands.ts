// The commands of `bigfleet` with their flags, for the reference page. A command that is missing
// here is missing in the documentation, and the test says so.

import { COMMANDS } from './bigfleet.ts';
import { coordinatorFlags } from './coordinator/flags.ts';
import type { FlagTable } from '@bigfleet/process/flags';
import { shardFlags } from './shard/flags.ts';

const FLAGS: ReadonlyMap<string, FlagTable> = new Map<string, FlagTable>([
  ['coordinator', coordinatorFlags],
  ['shard', shardFlags],
]);

export const DOCUMENTED_COMMANDS: readonly {
  readonly name: string;
  readonly summary: string;
  readonly flags: FlagTable;
}[] = [...COMMANDS].map(([name, { summary, flags }]) => ({
  name,
  summary,
  flags: flags ?? FLAGS.get(name) ?? {},
}));
