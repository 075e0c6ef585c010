// Cluster → shard (coordinator §7.3): first contact wins and stays; only an administrator moves it.

import { rowKey } from '../keys.ts';
import {
  changed,
  deleted,
  invalid,
  put,
  refusedAs,
  refusedTo,
  type Rule,
  UNCHANGED,
} from './decision.ts';
import { clusterIdProblem } from './inputs.ts';

export const bindCluster: Rule<'BindCluster'> = ({ view, issuedAtMs }, command) => {
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
  const reads = [rowKey('shards', shard.id)];
  return changed(view, { writes: [put('clusters', row)], reads, movesAssignment: false });
};

export const unbindCluster: Rule<'UnbindCluster'> = ({ view }, command) => {
  if (view.cluster(command.cluster) === undefined) return UNCHANGED;
  const writes = [deleted('clusters', command.cluster)];
  return changed(view, { writes, movesAssignment: false });
};
