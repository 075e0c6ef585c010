// The saga ledger of ownership transfers (coordinator §9.6). One record walks PREPARING → COMMITTED
// → DONE, or PREPARING → ABORTED, and never back. CommitTransfer is the one change of ownership:
// the record and every override in one commit, or nothing.

import type { CommandOf } from '../commands.ts';
import type { FleetView } from '../fleet-state.ts';
import { rowKey } from '../keys.ts';
import type { OverrideRow, ShardRow, TransferRow } from '../rows.ts';
import {
  changed,
  type Decision,
  deleted,
  invalid,
  put,
  refused,
  refusedAs,
  type Rule,
  UNCHANGED,
} from './decision.ts';
import { nameProblem, textProblem } from './inputs.ts';

/** With guards for each, this stays below the 128 compares of an etcd transaction. */
export const MAX_TRANSFER_MACHINES = 50;
export const MAX_CLEARED_AT_ONCE = 100;
const MAX_GC_AT_ONCE = 100;
export const KEEP_FINISHED_MS: number = 24 * 60 * 60 * 1_000;

export const beginTransfer: Rule<'BeginTransfer'> = ({ view, issuedAtMs }, command) => {
  const { id, tier, providerAddress, reasonCode, selector } = command;
  const problem =
    nameProblem('transfer id', id) ??
    nameProblem('provider address', providerAddress) ??
    textProblem('reason code', reasonCode);
  if (problem !== undefined) return invalid(problem);
  if (command.from === command.to) return invalid('a transfer needs two different shards');
  const known = view.transfer(id);
  if (known !== undefined) return isSameTransfer(known, command) ? UNCHANGED : taken(known);
  const from = view.shard(command.from);
  const to = view.shard(command.to);
  if (from === undefined || to === undefined) return refusedAs('shard-not-found');
  const other = view.openTransfers().find((open) => sharesRole(open, from, to));
  if (other !== undefined) return taken(other);
  const row: TransferRow = {
    id,
    from: from.id,
    fromUid: from.uid,
    to: to.id,
    toUid: to.uid,
    tier,
    phase: 'PREPARING',
    providerAddress,
    machineIds: [],
    reasonCode,
    createdAtMs: issuedAtMs,
    updatedAtMs: issuedAtMs,
    selector,
    quota: null,
  };
  const reads = [rowKey('shards', from.id), rowKey('shards', to.id)];
  return changed(view, { writes: [put('transfers', row)], reads, movesAssignment: false });
};

export const commitTransfer: Rule<'CommitTransfer'> = ({ view, issuedAtMs }, command) => {
  const { machineIds, maxOverrides } = command;
  const row = view.transfer(command.id);
  if (row === undefined) return refusedAs('transfer-not-found');
  const problem = machineIdsProblem(machineIds, MAX_TRANSFER_MACHINES);
  if (problem !== undefined) return invalid(problem);
  if (row.tier !== 1) return conflict(row, 'moves quota, not machines');
  if (row.phase === 'COMMITTED' && sameIds(row.machineIds, machineIds)) return UNCHANGED;
  if (row.phase !== 'PREPARING') return conflict(row, `is ${row.phase}`);
  if (!isRegistered(view, row.from, row.fromUid) || !isRegistered(view, row.to, row.toUid))
    return refusedAs('shard-not-found');
  const third = thirdOwner(view, row, machineIds);
  if (third !== undefined) return overrideConflict(third, row.to);
  const added = machineIds.filter((id) => view.override(id) === undefined).length;
  if (view.overrideCount() + added > maxOverrides) return overrideLimit(view, added, maxOverrides);
  const committed: TransferRow = {
    ...row,
    phase: 'COMMITTED',
    machineIds: [...machineIds],
    updatedAtMs: issuedAtMs,
  };
  return changed(view, {
    writes: [put('transfers', committed), ...overridesOf(committed)],
    reads: [rowKey('shards', row.from), rowKey('shards', row.to)],
    movesAssignment: true,
  });
};

export const finishTransfer: Rule<'FinishTransfer'> = ({ view, issuedAtMs }, command) => {
  const row = view.transfer(command.id);
  if (row === undefined) return refusedAs('transfer-not-found');
  if (row.phase === 'DONE') return UNCHANGED;
  if (row.phase !== 'COMMITTED') return conflict(row, `is ${row.phase}`);
  const done: TransferRow = { ...row, phase: 'DONE', updatedAtMs: issuedAtMs };
  return changed(view, { writes: [put('transfers', done)], movesAssignment: false });
};

export const abortTransfer: Rule<'AbortTransfer'> = ({ view, issuedAtMs }, command) => {
  const row = view.transfer(command.id);
  if (row === undefined) return refusedAs('transfer-not-found');
  const problem = textProblem('reason code', command.reasonCode);
  if (problem !== undefined) return invalid(problem);
  if (row.phase === 'ABORTED') return UNCHANGED;
  if (row.phase !== 'PREPARING') return conflict(row, `is ${row.phase}`);
  if (row.quota?.step === 'SHRUNK') return conflict(row, 'has not given its quota back');
  const aborted: TransferRow = {
    ...row,
    phase: 'ABORTED',
    reasonCode: command.reasonCode,
    updatedAtMs: issuedAtMs,
  };
  return changed(view, { writes: [put('transfers', aborted)], movesAssignment: false });
};

/** At most 100 at once; the caller repeats until nothing changes. */
export const gcTransfers: Rule<'GcTransfers'> = ({ view, issuedAtMs }, command) => {
  const beforeMs = Math.min(command.beforeMs, issuedAtMs - KEEP_FINISHED_MS);
  const old = view
    .transfers()
    .filter(({ phase, updatedAtMs }) => {
      const isOver = phase === 'DONE' || phase === 'ABORTED';
      return isOver && updatedAtMs < beforeMs;
    })
    .slice(0, MAX_GC_AT_ONCE);
  if (old.length === 0) return UNCHANGED;
  const writes = old.map(({ id }) => deleted('transfers', id));
  return changed(view, { writes, movesAssignment: false });
};

export const clearOverrides: Rule<'ClearOverrides'> = ({ view }, command) => {
  const problem = machineIdsProblem(command.machineIds, MAX_CLEARED_AT_ONCE);
  if (problem !== undefined) return invalid(problem);
  const owned = command.machineIds.filter((id) => view.override(id)?.owner === command.owner);
  if (owned.length === 0) return UNCHANGED;
  const writes = owned.map((id) => deleted('overrides', id));
  return changed(view, { writes, movesAssignment: true });
};

export function machineIdsProblem(ids: readonly string[], limit: number): string | undefined {
  if (ids.length === 0) return 'no machine is named';
  if (ids.length > limit) return `${ids.length} machines are named, the limit is ${limit}`;
  if (new Set(ids).size !== ids.length) return 'a machine is named twice';
  return ids.map((id) => nameProblem('machine id', id)).find((problem) => problem !== undefined);
}

/** An override that neither side of the transfer holds: the machine is not theirs to move. */
export function thirdOwner(
  view: FleetView,
  { from, to }: Pick<TransferRow, 'from' | 'to'>,
  machineIds: readonly string[],
): OverrideRow | undefined {
  return machineIds
    .map((id) => view.override(id))
    .find((held) => held !== undefined && held.owner !== from && held.owner !== to);
}

export function overridesOf(row: TransferRow): ReturnType<typeof put>[] {
  const { to, toUid, id } = row;
  return row.machineIds.map((machineId) =>
    put('overrides', { machineId, owner: to, ownerUid: toUid, transferId: id }),
  );
}

export function overrideConflict(held: OverrideRow, asked: string): Decision {
  return refused(
    'override-conflict',
    `coordinator: machine is owned by another shard: ` +
      `${held.machineId} currently on ${held.owner}, asked ${asked}`,
  );
}

export function conflict(row: TransferRow, problem: string): Decision {
  return refused('transfer-conflict', `coordinator: transfer ${row.id} ${problem}`);
}

export function isRegistered(view: FleetView, shardId: string, uid: number): boolean {
  return view.shard(shardId)?.uid === uid;
}

function overrideLimit(view: FleetView, added: number, limit: number): Decision {
  return refused(
    'override-limit',
    `coordinator: the limit of ${limit} overrides is reached: ` +
      `${view.overrideCount()} exist, ${added} more are asked`,
  );
}

function taken(row: TransferRow): Decision {
  const { id, from, to } = row;
  return refused('transfer-conflict', `coordinator: transfer ${id} from ${from} to ${to} is open`);
}

/** A shard is at most once donor and once recipient; a namesake registered later is another. */
function sharesRole(open: TransferRow, from: ShardRow, to: ShardRow): boolean {
  const isDonor = open.from === from.id && open.fromUid === from.uid;
  const isRecipient = open.to === to.id && open.toUid === to.uid;
  return isDonor || isRecipient;
}

function isSameTransfer(row: TransferRow, command: CommandOf<'BeginTransfer'>): boolean {
  return (
    row.from === command.from &&
    row.to === command.to &&
    row.tier === command.tier &&
    row.providerAddress === command.providerAddress
  );
}

function sameIds(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, at) => b[at] === id);
}
