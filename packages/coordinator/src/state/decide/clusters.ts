// Cluster → shard (coordinator §7.3): first contact wins and stays; only an administrator moves it.

import type { CommandBody } from '../commands.ts';
import { clusterKey, shardKey } from '../keys.ts';
import {
  changed,
  type Decision,
  deleted,
  invalid,
  put,
  refusedAs,
  refusedTo,
  type Situation,
  UNCHANGED,
} from './decision.ts';
import { clusterIdProblem } from './inputs.ts';

type Of<K extends CommandBody['kind']> = Extract<CommandBody, { kind: K }>;

export function bindCluster(situation: Situation, command: Of<'BindCluster'>): Decision {
  const { view, issuedAtMs } = situation;
  const problem = clusterIdProblem(command.cluster);
  if (problem !== undefined) return invalid(problem);
  const shard = view.shard(command.shard);
  if (shard === undefined) return refusedAs('shard-not-found');
  const bound = view.cluster(command.cluster);
  if (bound?.shardId === command.shard) return UNCHANGED;
  if (bound !== undefined && !command.force) {
    const contest = { what: command.cluster, owner: bound.shardId, asked: command.shard };
    return refusedTo('cluster-bound-elsewhere', contest);
  }
  const row = {
    clusterId: command.cluster,
    shardId: shard.id,
    shardUid: shard.uid,
    boundAtMs: issuedAtMs,
  };
  const reads = [shardKey(shard.id)];
  return changed(view, { writes: [put('clusters', row)], reads, movesAssignment: false });
}

export function unbindCluster(situation: Situation, command: Of<'UnbindCluster'>): Decision {
  const { view } = situation;
  if (view.cluster(command.cluster) === undefined) return UNCHANGED;
  const writes = [deleted('clusters', clusterKey(command.cluster))];
  return changed(view, { writes, movesAssignment: false });
}
