// What shards prove after a restore from an older snapshot (coordinator §9.6 last rows, §10.5).
// Evidence of a shard beats the ledger's silence, never the ledger's word: where a third shard holds
// a machine, nothing is written and an operator has to decide.

import { rowKey } from '../keys.ts';
import type { TransferRow } from '../rows.ts';
import { changed, invalid, put, refusedAs, type Rule, UNCHANGED } from './decision.ts';
import { nameProblem, shardIdProblem } from './inputs.ts';
import {
  conflict,
  machineIdsProblem,
  MAX_TRANSFER_MACHINES,
  overrideConflict,
  overridesOf,
  thirdOwner,
} from './transfers.ts';

/** CLAIMED or RELEASED is proof that it was committed once: it is committed again. */
export const restoreTransfer: Rule<'RestoreTransfer'> = ({ view, issuedAtMs }, command) => {
  const { id, from, to, providerAddress, machineIds } = command.transfer;
  const problem =
    nameProblem('transfer id', id) ??
    nameProblem('provider address', providerAddress) ??
    shardIdProblem(from) ??
    machineIdsProblem(machineIds, MAX_TRANSFER_MACHINES);
  if (problem !== undefined) return invalid(problem);
  if (from === to) return invalid('a transfer needs two different shards');
  const recipient = view.shard(to);
  if (recipient === undefined) return refusedAs('shard-not-found');
  const known = view.transfer(id);
  if (known !== undefined && (known.from !== from || known.to !== to || known.tier !== 1))
    return conflict(known, `is from ${known.from} to ${known.to}, tier ${known.tier}`);
  if (known?.phase === 'COMMITTED' || known?.phase === 'DONE') return UNCHANGED;
  const third = thirdOwner(view, { from, to }, machineIds);
  if (third !== undefined) return overrideConflict(third, to);
  const row: TransferRow = {
    id,
    from,
    fromUid: view.shard(from)?.uid ?? 0,
    to,
    toUid: recipient.uid,
    tier: 1,
    phase: 'COMMITTED',
    providerAddress,
    machineIds: [...machineIds],
    reasonCode: known?.reasonCode ?? '',
    createdAtMs: known?.createdAtMs ?? issuedAtMs,
    updatedAtMs: issuedAtMs,
    selector: known?.selector ?? null,
    quota: null,
  };
  return changed(view, {
    writes: [put('transfers', row), ...overridesOf(row)],
    reads: [rowKey('shards', to)],
    movesAssignment: true,
  });
};

export const restoreOverride: Rule<'RestoreOverride'> = ({ view }, command) => {
  const { machineId, transferId } = command;
  const problem = nameProblem('machine id', machineId) ?? nameProblem('transfer id', transferId);
  if (problem !== undefined) return invalid(problem);
  const owner = view.shard(command.owner);
  if (owner === undefined) return refusedAs('shard-not-found');
  const held = view.override(machineId);
  if (held?.owner === owner.id) return UNCHANGED;
  if (held !== undefined) return overrideConflict(held, owner.id);
  const row = { machineId, owner: owner.id, ownerUid: owner.uid, transferId };
  const reads = [rowKey('shards', owner.id)];
  return changed(view, { writes: [put('overrides', row)], reads, movesAssignment: true });
};
