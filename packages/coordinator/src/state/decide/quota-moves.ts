// Moving a part of a slice between two shards (coordinator §9.4, tier 2). The donor shrinks first
// and the recipient grows only after the donor has acknowledged: the sum is never above what the
// provider declares, whoever crashes in between. A move ends GROWN (then COMMITTED) or RESTORED.

import { compareText } from '@bigfleet/base';
import type { CommandOf } from '../commands.ts';
import type { FleetView } from '../fleet-state.ts';
import { rowKey } from '../keys.ts';
import type { QuotaMoveRow, QuotaRow, ShardRow, TransferRow, Write } from '../rows.ts';
import {
  changed,
  type Decision,
  invalid,
  put,
  refused,
  refusedAs,
  type Rule,
  type Situation,
  UNCHANGED,
} from './decision.ts';
import { countProblem, nameProblem } from './inputs.ts';
import { exceedsDeclared, owedBy, unsettledMoves } from './quotas.ts';
import { conflict, isRegistered } from './transfers.ts';

type MoveQuota = CommandOf<'MoveQuota'>;

export const moveQuota: Rule<'MoveQuota'> = (situation, command) => {
  const { view } = situation;
  const problem =
    nameProblem('quota provider', command.provider) ??
    nameProblem('quota region', command.region) ??
    countProblem('count', command.count);
  if (problem !== undefined) return invalid(problem);
  if (command.count === 0) return invalid('a quota move of nothing');
  const row = view.transfer(command.id);
  if (row === undefined) return refusedAs('transfer-not-found');
  if (row.tier !== 2) return conflict(row, 'moves machines, not quota');
  if (row.from !== command.from || row.to !== command.to)
    return conflict(row, `is from ${row.from} to ${row.to}`);
  if (row.quota !== null && !isSameMove(row.quota, command))
    return conflict(row, 'moves another quota');
  switch (command.step) {
    case 'SHRINK':
      return shrink(situation, row, command);
    case 'GROW':
      return grow(situation, row, command);
    case 'RESTORE':
      return restore(situation, row, command);
  }
};

function shrink(situation: Situation, row: TransferRow, command: MoveQuota): Decision {
  const { view } = situation;
  if (row.quota !== null) return row.quota.step === 'SHRUNK' ? UNCHANGED : ended(row);
  if (row.phase !== 'PREPARING') return conflict(row, `is ${row.phase}`);
  if (!isRegistered(view, row.from, row.fromUid) || !isRegistered(view, row.to, row.toUid))
    return refusedAs('shard-not-found');
  const quota = view.quota(command.provider, command.region);
  const held = sliceOf(quota, row.from);
  if (quota === undefined || held < command.count) {
    return refused(
      'quota-exceeded',
      `coordinator: slice is too small: ${row.from} holds ${held} of ` +
        `${command.provider}/${command.region}, asked ${command.count}`,
    );
  }
  const slices = withSlice(view, quota, { shardId: row.from, by: -command.count });
  return stepped(situation, row, { command, step: 'SHRUNK', quota: slices });
}

function grow(situation: Situation, row: TransferRow, command: MoveQuota): Decision {
  const { view } = situation;
  if (row.quota?.step === 'GROWN') return UNCHANGED;
  if (row.quota?.step !== 'SHRUNK') return row.quota === null ? notShrunk(row) : ended(row);
  if (!isRegistered(view, row.to, row.toUid)) return refusedAs('shard-not-found');
  const quota = rowOf(view, command);
  const grown = withSlice(view, quota, { shardId: row.to, by: command.count });
  const owed = owedBy(unsettledMoves(view, command.provider, command.region)) - command.count;
  const tooMuch = exceedsDeclared(view, grown, owed);
  if (tooMuch !== undefined) return tooMuch;
  return stepped(situation, row, { command, step: 'GROWN', quota: grown });
}

/** Gives back to the donor. A donor that is gone has no slice to give back to: the move just ends. */
function restore(situation: Situation, row: TransferRow, command: MoveQuota): Decision {
  const { view } = situation;
  if (row.quota?.step === 'RESTORED') return UNCHANGED;
  if (row.quota?.step !== 'SHRUNK') return row.quota === null ? notShrunk(row) : ended(row);
  const isThere = isRegistered(view, row.from, row.fromUid);
  const given = withSlice(view, rowOf(view, command), { shardId: row.from, by: command.count });
  const quota = isThere ? given : undefined;
  return stepped(situation, row, { command, step: 'RESTORED', quota });
}

interface Step {
  readonly command: MoveQuota;
  readonly step: QuotaMoveRow['step'];
  /** Undefined when the row of slices stays as it is. */
  readonly quota: QuotaRow | undefined;
}

function stepped(situation: Situation, row: TransferRow, step: Step): Decision {
  const { view, issuedAtMs } = situation;
  const { provider, region, count } = step.command;
  const next: TransferRow = {
    ...row,
    phase: step.step === 'GROWN' ? 'COMMITTED' : row.phase,
    updatedAtMs: issuedAtMs,
    quota: { provider, region, count, step: step.step },
  };
  const writes: Write[] = [put('transfers', next)];
  if (step.quota !== undefined) writes.push(put('quotas', step.quota));
  const reads = [rowKey('shards', row.from), rowKey('shards', row.to)];
  return changed(view, { writes, reads, movesAssignment: step.quota !== undefined });
}

/** The row as it is, or an empty one: its last slice may have died with its shard meanwhile. */
function rowOf(view: FleetView, { provider, region }: MoveQuota): QuotaRow {
  return view.quota(provider, region) ?? { provider, region, slices: [] };
}

function sliceOf(quota: QuotaRow | undefined, shardId: string): number {
  return quota?.slices.find((slice) => slice.shardId === shardId)?.slice ?? 0;
}

function withSlice(
  view: FleetView,
  quota: QuotaRow,
  { shardId, by }: { readonly shardId: string; readonly by: number },
): QuotaRow {
  const shard: ShardRow | undefined = view.shard(shardId);
  if (shard === undefined) return quota;
  const slice = sliceOf(quota, shardId) + by;
  const others = quota.slices.filter((other) => other.shardId !== shardId);
  const slices = [...others, { shardId, shardUid: shard.uid, slice }];
  return { ...quota, slices: slices.sort((a, b) => compareText(a.shardId, b.shardId)) };
}

function isSameMove(row: QuotaMoveRow, command: MoveQuota): boolean {
  const { provider, region, count } = row;
  return provider === command.provider && region === command.region && count === command.count;
}

function notShrunk(row: TransferRow): Decision {
  return conflict(row, 'has not shrunk the donor');
}

function ended(row: TransferRow): Decision {
  return conflict(row, `has ended its quota move: ${row.quota?.step}`);
}
