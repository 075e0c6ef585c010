// Which other shards may act on machines of the providers that a shard dials: their domains are foreign to
// it, and its new domains wait for them. The registry and the homes say it for every entry. Beyond them a
// shard that an entry just lost still dials it, a shard that has not reported to this leader may dial
// anything, and for providers that are shared by flag every shard counts, because no table names them.
// Where in doubt a shard counts: a foreign domain too many only takes machines away from "unmatched".

import type { ShardReport } from '@bigfleet/wire';
import { isSharedByFlag, isHostLocal } from '../reports/dialled-providers.ts';
import type { SoftState } from '../reports/soft-state.ts';
import type { FleetView } from '../state/fleet-state.ts';
import { firstRevisionOf } from '../state/meta.ts';
import type { ProviderRow } from '../state/rows.ts';

export interface SharingParts {
  readonly view: FleetView;
  readonly soft: SoftState;
}

export interface Sharers {
  /** Other registered shards, sorted; empty = nothing is shared. */
  readonly ids: readonly string[];
  /** A shard counts only because of its last report, or because it has none: to be looked at again. */
  readonly isProvisional: boolean;
}

const NOBODY: Sharers = { ids: [], isProvisional: false };

export function sharersOf(parts: SharingParts, report: ShardReport): Sharers {
  const { view, soft } = parts;
  const others = view
    .shards()
    .map(({ id }) => id)
    .filter((id) => id !== report.shardId);
  if (isSharedByFlag(report)) return { ids: others, isProvisional: false };
  const shared = sharedAddresses(parts, report.shardId);
  if (shared.size === 0) return NOBODY;
  const named = new Set([...shared].flatMap((address) => partiesOf(view, address)));
  const ids = others.filter((id) => {
    if (named.has(id) || soft.picture(id) === undefined) return true;
    return soft.maybeDialledBy(id).some(({ address }) => shared.has(address));
  });
  return { ids, isProvisional: ids.some((id) => !named.has(id)) };
}

/** Addresses at which this shard owns, or may own by now, less than everything. */
function sharedAddresses({ view, soft }: SharingParts, shardId: string): ReadonlySet<string> {
  const dialled = soft.maybeDialledBy(shardId).filter(({ isShared }) => isShared);
  const entries = view.providersOf(shardId).filter((entry) => isSharedEntry(view, entry));
  return new Set([...dialled, ...entries].map(({ address }) => address));
}

/** Shards that the ledger connects with an address. */
function partiesOf(view: FleetView, address: string): readonly string[] {
  const home = view.home(address)?.shardId;
  const reached = shardsOfAddress(view, address);
  return home === undefined ? [...reached] : [...reached, home];
}

export function reachedShards(view: FleetView, entry: ProviderRow): readonly string[] {
  if (entry.shards.length === 0) return view.shards().map(({ id }) => id);
  return entry.shards.filter((id) => view.shard(id) !== undefined);
}

/** Two entries of one address are one provider: the shards of both share it. */
export function isSharedEntry(view: FleetView, entry: ProviderRow): boolean {
  return !isHostLocal(entry.address) && shardsOfAddress(view, entry.address).size > 1;
}

export function shardsOfAddress(view: FleetView, address: string): ReadonlySet<string> {
  const entries = view.providers().filter((entry) => entry.address === address);
  return new Set(entries.flatMap((entry) => reachedShards(view, entry)));
}

/**
 * The revision that the shard is known to act on, by its last report to this leadership; 0 = none. A
 * revision of a generation that was lost in a restore says nothing about this ledger.
 */
export function appliedBy({ view, soft }: SharingParts, shardId: string): bigint {
  const reported = soft.picture(shardId)?.report.assignmentRevision ?? 0n;
  return reported >= BigInt(firstRevisionOf(view.meta.ledgerGeneration)) ? reported : 0n;
}
