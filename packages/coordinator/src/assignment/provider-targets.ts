// The registry entries that one shard is to dial (coordinator §7.5), with the rule that keeps one owner per
// machine while an entry gains or loses a shard: whoever so far owned everything at an address must
// have narrowed itself to its share before anybody else may dial it, and whoever so far owned a
// share may widen itself only after everybody else has let go.
// What has to wait is left out. That does not lower the revision of the assignment, or two newcomers
// could wait for each other: what a shard dials is in its reports, so `lacksTarget` sees it there.

import type { ProviderTarget, ShardReport } from '@bigfleet/wire';
import {
  type DialledProvider,
  dialledProviders,
  dialsByFlag,
  isHostLocal,
} from '../reports/dialled-providers.ts';
import type { ProviderRow } from '../state/rows.ts';
import { appliedBy, isSharedEntry, reaches, type SharingParts } from './sharing.ts';

export function providerTargets(
  parts: SharingParts,
  report: ShardReport,
): readonly ProviderTarget[] {
  const { view, soft } = parts;
  const entries = view.providers().filter((entry) => reaches(entry, report.shardId));
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

/** Whether the shard, by its own report, does not dial what it is to dial. */
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
 * The home row exists before `shared` is sent. Whoever dials it already is only narrowed by it; a
 * newcomer waits until everybody there owns a share only and knows of his domains. Who has not been
 * heard may be there, whatever the entry says by now; a shard that is gone for good is removed.
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
 * The entry is for this shard alone, but others may still hold machines there. A home that comes
 * without a disk does not wait for the unheard: most likely it just had all of it, and the silence of
 * one shard must not stop another.
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

/** Never taken from a shard that dials it: leaving it out would retire it. */
function asItIs(entry: ProviderRow, own: DialledProvider | undefined): Target {
  return own === undefined ? undefined : targetOf(entry, own.isShared);
}

export function targetOf(entry: ProviderRow, shared: boolean): ProviderTarget {
  const { name, address, region } = entry;
  return { $typeName: 'bigfleet.ext.v1alpha1.ProviderTarget', name, address, region, shared };
}
