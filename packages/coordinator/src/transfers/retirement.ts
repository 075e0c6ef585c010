// When a finished transfer may be forgotten: first by the shards, then by the ledger. The other way
// round a shard would still name a transfer that the ledger does not know, which is exactly what a
// ledger restored from an old snapshot looks like.

import type { TransferStatus } from '@bigfleet/wire';
import type { SoftState } from '../reports/soft-state.ts';
import type { FleetView } from '../state/fleet-state.ts';
import type { TransferRow } from '../state/rows.ts';

const KEEP_MS = 24 * 60 * 60 * 1_000;

export function isRetired(row: TransferRow, nowUnixMs: number): boolean {
  return isOver(row) && row.updatedAtMs < nowUnixMs - KEEP_MS;
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
  const beforeMs = Math.min(nowUnixMs - KEEP_MS, ...kept.map((row) => row.updatedAtMs));
  return retired.some((row) => row.updatedAtMs < beforeMs) ? beforeMs : undefined;
}

function namedIds(soft: SoftState): ReadonlySet<string> {
  const statuses: TransferStatus[] = soft.pictures().flatMap(({ report }) => report.transfers);
  return new Set(statuses.map(({ transferId }) => transferId));
}

function isUnheard(state: FleetView, soft: SoftState, row: TransferRow): boolean {
  const sides = [
    { id: row.from, uid: row.fromUid },
    { id: row.to, uid: row.toUid },
  ];
  return sides.some(
    ({ id, uid }) => state.shard(id)?.uid === uid && soft.picture(id) === undefined,
  );
}

function isOver({ phase }: TransferRow): boolean {
  return phase === 'DONE' || phase === 'ABORTED';
}
