// Shards come and go (coordinator §7.1). Removing one writes one row: what it owned dies by the rule
// of uids, at once for every reader, and is swept later. Its open transfers stay visible, because
// only their saga knows how to end them.

import type { CommandBody } from '../commands.ts';
import type { FleetView } from '../fleet-view.ts';
import { clusterKey, domainKey, homeKey, overrideKey, quotaKey, shardKey } from '../keys.ts';
import type { RowKey } from '../writes.ts';
import {
  changed,
  type Decision,
  deleted,
  invalid,
  put,
  refusedAs,
  type Situation,
  UNCHANGED,
} from './decision.ts';
import { epochProblem, shardIdProblem, textProblem, timeProblem } from './inputs.ts';

type Of<K extends CommandBody['kind']> = Extract<CommandBody, { kind: K }>;

export function addShard(situation: Situation, command: Of<'AddShard'>): Decision {
  const { view, applyIndex } = situation;
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
    movesAssignment: isReachedByProvider(view, id),
  });
}

export function removeShard(situation: Situation, command: Of<'RemoveShard'>): Decision {
  const { view } = situation;
  if (view.shard(command.id) === undefined) return refusedAs('shard-not-found');
  return changed(view, {
    writes: [deleted('shards', shardKey(command.id))],
    gc: rowsThatDieWith(view, command.id),
    movesAssignment: true,
  });
}

export function recordShardEpoch(situation: Situation, command: Of<'RecordShardEpoch'>): Decision {
  const { view } = situation;
  const row = view.shard(command.shard);
  if (row === undefined) return refusedAs('shard-not-found');
  const problem = epochProblem(command.epoch);
  if (problem !== undefined) return invalid(problem);
  if (command.epoch <= row.maxEpoch) return UNCHANGED;
  const next = { ...row, maxEpoch: command.epoch };
  return changed(view, { writes: [put('shards', next)], movesAssignment: false });
}

function isReachedByProvider(view: FleetView, shardId: string): boolean {
  return view.providers().some(({ shards }) => shards.length === 0 || shards.includes(shardId));
}

function rowsThatDieWith(view: FleetView, shardId: string): RowKey[] {
  const clusters = view.clusters().filter((row) => row.shardId === shardId);
  const homes = view.homes().filter((row) => row.shardId === shardId);
  const quotas = view
    .quotas()
    .filter(({ slices }) => slices.every((slice) => slice.shardId === shardId));
  return [
    ...clusters.map((row) => clusterKey(row.clusterId)),
    ...view.domainsOf(shardId).map(domainKey),
    ...homes.map((row) => homeKey(row.providerAddress)),
    ...view.overridesOwnedBy(shardId).map((row) => overrideKey(row.machineId)),
    ...quotas.map((row) => quotaKey(row.provider, row.region)),
  ];
}
