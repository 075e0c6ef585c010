// The registry entries that one shard is to dial (coordinator §7.5), one owner per machine while an entry
// gains or loses a shard: a shard that owned everything at an address narrows itself to its share before
// another may dial it, and a shard that owned a share widens itself only after the others have let go.
//
// An entry that has to wait is left out. That does not lower the revision of the assignment, or two
// newcomers could wait for each other: a report shows what its shard dials, and `lacksTarget` looks there.

import type { ProviderTarget, ShardReport } from '@bigfleet/wire';
import {
  type DialledProvider,
  dialledProviders,
  dialsByFlag,
  isHostLocal,
} from '../reports/dialled-providers.ts';
import type { ProviderRow } from '../state/rows.ts';
import { appliedBy, isSharedEntry, type SharingParts } from './sharing.ts';

export function providerTargets(
  parts: SharingParts,
  report: ShardReport,
): readonly ProviderTarget[] {
  const { view, soft } = parts;
  const entries = view.providersOf(report.shardId);
  soft.keepWaits(report.shardId, new Set(entries.map(({ address }) => address)));
  return entries.flatMap((entry) => {
    if (isHostLocal(entry.address)) return targetOf(entry, false);
    const own = dialledProviders(report).find(({ address }) => address === entry.address);
    const target = isSharedEntry(view, entry)
      ? sharedTarget(parts, { entry, own, report })
      : soleTarget(parts, { entry, own, report });
    return target ?? [];
  });
}

/** Whether the shard's own report lacks a provider that it is to dial. */
export function lacksTarget(parts: SharingParts, report: ShardReport): boolean {
  if (dialsByFlag(report)) return false;
  const dialled = new Map(dialledProviders(report).map((own) => [own.address, own]));
  return providerTargets(parts, report).some(
    ({ address, shared }) => dialled.get(address)?.isShared !== shared,
  );
}

/** Undefined: not yet. */
type Target = ProviderTarget | undefined;

interface Case {
  readonly entry: ProviderRow;
  readonly own: DialledProvider | undefined;
  readonly report: ShardReport;
}

/**
 * The home row exists before `shared` is sent. A shard that dials the entry already is only narrowed by it.
 * A newcomer waits until every shard there owns a share only and knows the newcomer's domains. A shard
 * that has not reported may be dialling it, also when the entry does not reach it any more; one that is
 * gone for good is removed by an operator.
 */
function sharedTarget(parts: SharingParts, { entry, own, report }: Case): Target {
  const { view, soft } = parts;
  const { shardId } = report;
  if (view.home(entry.address) === undefined) return asItIs(entry, own);
  if (own !== undefined) return targetOf(entry, true);
  const since = soft.waitsSince(shardId, entry, view.meta.assignmentRevision);
  const others = othersAt(parts, shardId, entry.address);
  const isReady =
    (soft.isFresh(entry.address) || isEverybodyHeard(parts)) &&
    others.every(({ id, isShared }) => isShared && appliedBy(parts, id) >= since);
  return isReady ? targetOf(entry, true) : asItIs(entry, own);
}

/**
 * The entry is for this shard alone, but others may still hold machines there. A home that lost its disk
 * does not wait for shards that have not reported: most likely it owned everything until now, and the
 * silence of one shard must not stop another.
 */
function soleTarget(parts: SharingParts, { entry, own, report }: Case): Target {
  const { view, soft } = parts;
  const { shardId, assignmentRevision } = report;
  const home = view.home(entry.address);
  if (own?.isShared === false) return targetOf(entry, false);
  if (home === undefined || othersAt(parts, shardId, entry.address).length > 0) {
    return asItIs(entry, own);
  }
  const isHomeAgain = home.shardId === shardId && assignmentRevision === 0n;
  const isClear = isHomeAgain || soft.isFresh(entry.address) || isEverybodyHeard(parts);
  return isClear ? targetOf(entry, false) : asItIs(entry, own);
}

interface Other {
  readonly id: string;
  readonly isShared: boolean;
}

function othersAt(
  { view, soft }: SharingParts,
  shardId: string,
  address: string,
): readonly Other[] {
  const others = view.shards().filter(({ id }) => id !== shardId);
  return others.flatMap(({ id }) =>
    soft
      .maybeDialledBy(id)
      .filter((dialled) => dialled.address === address)
      .map(({ isShared }) => ({ id, isShared })),
  );
}

/** In this leadership. */
function isEverybodyHeard({ view, soft }: SharingParts): boolean {
  return view.shards().every(({ id }) => soft.picture(id) !== undefined);
}

/** An entry that the shard dials stays: leaving it out would retire the provider. */
function asItIs(entry: ProviderRow, own: DialledProvider | undefined): Target {
  return own === undefined ? undefined : targetOf(entry, own.isShared);
}

export function targetOf(entry: ProviderRow, shared: boolean): ProviderTarget {
  const { name, address, region } = entry;
  return { $typeName: 'bigfleet.ext.v1alpha1.ProviderTarget', name, address, region, shared };
}
