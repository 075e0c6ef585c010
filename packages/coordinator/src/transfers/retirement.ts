// When a finished transfer may be forgotten: first by the shards, then by the ledger. The other way
// round a shard would still name a transfer that the ledger does not know, which is exactly what a
// ledger restored from an old snapshot looks like.

import type { SoftState } from '../reports/soft-state.ts';
import type { FleetView } from '../state/fleet-state.ts';
import { isRegistered, KEEP_FINISHED_MS } from '../state/decide/transfers.ts';
import type { TransferRow } from '../state/rows.ts';

export function isRetired(row: TransferRow, nowUnixMs: number): boolean {
  return isOver(row) && row.updatedAtMs < nowUnixMs - KEEP_FINISHED_MS;
}

/**
 * Records older than this may go; undefined when there is none. A shard that is registered and
 * silent holds back what it may still name: an operator who removes it lets go of it.
 */
export function collectableBefore(
  state: FleetView,
  soft: SoftState,
  nowUnixMs: number,
): number | undefined {
  const retired = state.transfers().filter((row) => isRetired(row, nowUnixMs));
  if (retired.length === 0) return undefined;
  const named = namedIds(soft);
  const kept = retired.filter((row) => named.has(row.id) || isUnheard(state, soft, row));
  const beforeMs = Math.min(nowUnixMs - KEEP_FINISHED_MS, ...kept.map((row) => row.updatedAtMs));
  return retired.some((row) => row.updatedAtMs < beforeMs) ? beforeMs : undefined;
}

function namedIds(soft: SoftState): ReadonlySet<string> {
  const statuses = soft.pictures().flatMap(({ report }) => report.transfers);
  return new Set(statuses.map(({ transferId }) => transferId));
}

function isUnheard(state: FleetView, soft: SoftState, row: TransferRow): boolean {
  const isSilent = (id: string, uid: number): boolean =>
    isRegistered(state, id, uid) && soft.picture(id) === undefined;
  return isSilent(row.from, row.fromUid) || isSilent(row.to, row.toUid);
}

function isOver({ phase }: TransferRow): boolean {
  return phase === 'DONE' || phase === 'ABORTED';
}
