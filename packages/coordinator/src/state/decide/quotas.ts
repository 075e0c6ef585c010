// Quota slices (coordinator §7.4): a supply-side bound per shard, whole row at a time. The sum of a
// row never exceeds what its provider declares, also counting what a quota move has taken from one
// shard and not yet given to the other.

import { compareText } from '@bigfleet/base';
import type { CommandOf } from '../commands.ts';
import type { FleetView } from '../fleet-state.ts';
import { rowKey } from '../keys.ts';
import { encodeRow } from '../row-format.ts';
import type { QuotaRow, SliceRow, TransferRow } from '../rows.ts';
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
import { countProblem, nameProblem } from './inputs.ts';

export const setQuota: Rule<'SetQuota'> = ({ view, issuedAtMs }, command) => {
  const { provider, region, perShard } = command;
  const problem = quotaProblem(command);
  if (problem !== undefined) return invalid(problem);
  const slices: SliceRow[] = [];
  for (const [shardId, slice] of perShard) {
    const shard = view.shard(shardId);
    if (shard === undefined) return refusedAs('shard-not-found');
    slices.push({ shardId, shardUid: shard.uid, slice });
  }
  slices.sort((a, b) => compareText(a.shardId, b.shardId));
  const row: QuotaRow = { provider, region, slices };
  const tooMuch = exceedsDeclared(view, row, 0);
  if (tooMuch !== undefined) return tooMuch;
  const moves = unsettledMoves(view, provider, region);
  const known = view.quota(provider, region) ?? { provider, region, slices: [] };
  const isSame = encodeRow('quotas', known) === encodeRow('quotas', row);
  if (moves.length === 0 && isSame) return UNCHANGED;
  return changed(view, {
    writes: [
      slices.length === 0 ? deleted('quotas', provider, region) : put('quotas', row),
      ...moves.map((move) => put('transfers', settled(move, issuedAtMs))),
    ],
    reads: [
      rowKey('providers', provider),
      ...slices.map(({ shardId }) => rowKey('shards', shardId)),
    ],
    movesAssignment: true,
  });
};

function quotaProblem({ provider, region, perShard }: CommandOf<'SetQuota'>): string | undefined {
  const names = nameProblem('quota provider', provider) ?? nameProblem('quota region', region);
  if (names !== undefined) return names;
  for (const [shardId, slice] of perShard) {
    const problem = countProblem(`slice of ${shardId}:`, slice);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The refusal, when the row plus what is still owed is more than the provider has. */
export function exceedsDeclared(
  view: FleetView,
  row: QuotaRow,
  owed: number,
): Decision | undefined {
  const declared = view.provider(row.provider)?.declaredQuota ?? 0;
  const total = sumOf(row) + owed;
  if (declared === 0 || total <= declared) return undefined;
  return refused(
    'quota-exceeded',
    `coordinator: quota exceeds what the provider declares: ` +
      `${row.provider}/${row.region} sums to ${total}, declared ${declared}`,
  );
}

export function sumOf(row: QuotaRow): number {
  return row.slices.reduce((sum, { slice }) => sum + slice, 0);
}

/** Moves that have shrunk the donor and neither grown the recipient nor given back. */
export function unsettledMoves(
  view: FleetView,
  provider: string,
  region: string,
): readonly TransferRow[] {
  return view.openTransfers().filter(({ quota }) => {
    const isHere = quota?.provider === provider && quota.region === region;
    return isHere && quota.step === 'SHRUNK';
  });
}

export function owedBy(moves: readonly TransferRow[]): number {
  return moves.reduce((sum, { quota }) => sum + (quota?.count ?? 0), 0);
}

/**
 * A row set by hand is the whole truth: a move half done on it is over, and owes nothing. Giving
 * back afterwards would raise a slice above what the administrator just wrote.
 */
function settled(move: TransferRow, updatedAtMs: number): TransferRow {
  const { quota } = move;
  return { ...move, updatedAtMs, quota: quota === null ? null : { ...quota, step: 'RESTORED' } };
}
