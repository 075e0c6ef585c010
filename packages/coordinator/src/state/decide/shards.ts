// Shards come and go (coordinator §7.1). Removing one writes one row: what it owned dies by the rule
// of uids, at once for every reader, and is swept later. Its open transfers stay visible, because
// only their saga knows how to end them.

import type { FleetView } from '../fleet-state.ts';
import { keyOfRow } from '../keys.ts';
import type { RowKey } from '../rows.ts';
import { changed, deleted, invalid, put, refusedAs, type Rule, UNCHANGED } from './decision.ts';
import { epochProblem, shardIdProblem, textProblem, timeProblem } from './inputs.ts';

export const addShard: Rule<'AddShard'> = ({ view, applyIndex }, command) => {
  const { id, address, registeredAtMs } = command;
  if (id === '') return invalid('ShardEntry.ID required');
  const problem =
    shardIdProblem(id) ??
    textProblem('shard address', address) ??
    timeProblem('registered_at', registeredAtMs);
  if (problem !== undefined) return invalid(problem);
  if (view.shard(id) !== undefined) return refusedAs('shard-exists');
  const row = { id, address, registeredAtMs, uid: applyIndex, maxEpoch: 0n };
  return changed(view, {
    writes: [put('shards', row)],
    movesAssignment: view.providersOf(id).length > 0,
  });
};

export const removeShard: Rule<'RemoveShard'> = ({ view }, command) => {
  if (view.shard(command.id) === undefined) return refusedAs('shard-not-found');
  return changed(view, {
    writes: [deleted('shards', command.id)],
    gc: rowsThatDieWith(view, command.id),
    movesAssignment: true,
  });
};

export const recordShardEpoch: Rule<'RecordShardEpoch'> = ({ view }, command) => {
  const row = view.shard(command.shard);
  if (row === undefined) return refusedAs('shard-not-found');
  const problem = epochProblem(command.epoch);
  if (problem !== undefined) return invalid(problem);
  if (command.epoch <= row.maxEpoch) return UNCHANGED;
  const next = { ...row, maxEpoch: command.epoch };
  return changed(view, { writes: [put('shards', next)], movesAssignment: false });
};

function rowsThatDieWith(view: FleetView, shardId: string): RowKey[] {
  const clusters = view.clusters().filter((row) => row.shardId === shardId);
  const homes = view.homes().filter((row) => row.shardId === shardId);
  const quotas = view
    .quotas()
    .filter(({ slices }) => slices.every((slice) => slice.shardId === shardId));
  return [
    ...clusters.map((row) => keyOfRow('clusters', row)),
    ...view.domainsOf(shardId).map((row) => keyOfRow('domains', row)),
    ...homes.map((row) => keyOfRow('homes', row)),
    ...view.overridesOwnedBy(shardId).map((row) => keyOfRow('overrides', row)),
    ...quotas.map((row) => keyOfRow('quotas', row)),
  ];
}
