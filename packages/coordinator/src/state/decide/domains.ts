// Topology domains (coordinator §7.2). A domain changes hands only through RELEASING: between
// "taken away" and "holds nothing there any more" both shards would own its machines.

import { rowKey } from '../keys.ts';
import type { DomainRow } from '../rows.ts';
import {
  changed,
  deleted,
  invalid,
  nextRevision,
  put,
  refusedAs,
  refusedTo,
  type Rule,
  UNCHANGED,
} from './decision.ts';
import { domainProblem } from './inputs.ts';

export const assignDomain: Rule<'AssignDomain'> = ({ view }, command) => {
  const { key, value } = command.domain;
  const problem = domainProblem(command.domain);
  if (problem !== undefined) return invalid(problem);
  const shard = view.shard(command.shard);
  if (shard === undefined) return refusedAs('shard-not-found');
  const held = view.domain(command.domain);
  if (held !== undefined && held.shardId !== shard.id) {
    const contest = { what: `${key}=${value}`, owner: held.shardId, asked: shard.id };
    const isReleasing = held.state === 'RELEASING';
    return refusedTo(isReleasing ? 'domain-releasing' : 'domain-assigned-elsewhere', contest);
  }
  if (held?.state === 'ASSIGNED') return UNCHANGED;
  const row: DomainRow = {
    key,
    value,
    shardId: shard.id,
    shardUid: shard.uid,
    state: 'ASSIGNED',
    revision: nextRevision(view),
  };
  const reads = [rowKey('shards', shard.id)];
  return changed(view, { writes: [put('domains', row)], reads, movesAssignment: true });
};

/** A live row has a registered owner, so it is released; a dead one is absent already. */
export const unassignDomain: Rule<'UnassignDomain'> = ({ view }, command) => {
  const problem = domainProblem(command.domain);
  if (problem !== undefined) return invalid(problem);
  const held = view.domain(command.domain);
  if (held === undefined || held.state === 'RELEASING') return UNCHANGED;
  const row: DomainRow = { ...held, state: 'RELEASING', revision: nextRevision(view) };
  return changed(view, { writes: [put('domains', row)], movesAssignment: true });
};

export const domainReleased: Rule<'DomainReleased'> = ({ view }, command) => {
  const problem = domainProblem(command.domain);
  if (problem !== undefined) return invalid(problem);
  const held = view.domain(command.domain);
  if (held?.state !== 'RELEASING' || held.shardId !== command.shard) return UNCHANGED;
  const writes = [deleted('domains', command.domain.key, command.domain.value)];
  return changed(view, { writes, movesAssignment: true });
};
