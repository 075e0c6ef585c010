// GetShardStatus: one line about the shard. Counts come from the columns, never from a walk over
// the machines.

import { State, STATE_COUNT, stateName, type StateCode } from '@bigfleet/engine';
import type { ProviderSummarySchema, ShardStatusSchema } from '@bigfleet/wire';
import type { Fleet } from '../fleet/fleet.ts';
import type { Init, RowInit } from './wire-init.ts';

export type ShardStatusInit = Init<typeof ShardStatusSchema>;
export type ProviderSummaryInit = RowInit<typeof ProviderSummarySchema>;

/** PascalCase names, every state, zeros included. */
export function machinesByState({ inventory }: Fleet): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let state = State.Speculative as number; state < STATE_COUNT; state++) {
    counts[stateName(state)] = inventory.stateCounts[state] ?? 0;
  }
  return counts;
}

/** What a provider bills: machines that have a host, until they are deleted. */
const BILLED: readonly StateCode[] = [
  State.Idle,
  State.Configuring,
  State.Configured,
  State.Draining,
  State.Deleting,
];

export function dollarsPerHour({ inventory }: Fleet): number {
  const { classes } = inventory;
  let dollars = 0;
  for (let klass = 0; klass < classes.length; klass++) {
    let machines = 0;
    for (const state of BILLED) machines += classes.counts[klass * STATE_COUNT + state] ?? 0;
    if (machines > 0) dollars += machines * (classes.price[klass] ?? 0);
  }
  return dollars;
}
