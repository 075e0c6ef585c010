// Which providers a shard says it dials. A shard that sends no list dials at most one, named by its
// address alone (coordinator §5.2). An address that is local to a host names a different provider on
// every host: it is never shared, has no home and is no basis for a transfer (coordinator §7.5).

import type { ShardReport } from '@bigfleet/wire';

export interface DialledProvider {
  readonly name: string;
  readonly address: string;
  readonly isShared: boolean;
  /** `flag`, `registry`, `fake`; empty from a shard that does not say. */
  readonly source: string;
  readonly totalCount: number;
  readonly idleCount: number;
  /** Machines in any state but Speculative. */
  readonly heldCount: number;
}

/** What one shard may dial (shard §6); more in a report is not believed. */
const MAX_PROVIDERS = 32;

export function dialledProviders(report: ShardReport): readonly DialledProvider[] {
  const { summary } = report;
  if (summary === undefined) return [];
  if (summary.providers.length > 0) {
    return summary.providers.slice(0, MAX_PROVIDERS).map((provider) => ({
      name: provider.name,
      address: provider.address,
      isShared: provider.shared,
      source: provider.source,
      totalCount: provider.totalMachines,
      idleCount: provider.idleMachines,
      heldCount: provider.totalMachines - provider.speculativeMachines,
    }));
  }
  if (summary.providerAddress === '') return [];
  const { totalMachines: totalCount, freeMachines, idleMachines: idleCount } = summary;
  return [
    {
      name: '',
      address: summary.providerAddress,
      isShared: report.providerShared,
      source: '',
      totalCount,
      idleCount,
      heldCount: totalCount - Math.max(0, freeMachines - idleCount),
    },
  ];
}

/**
 * Flags are the whole set of such a shard: the registry does not make it dial anything (coordinator
 * §7.5).
 */
export function dialsByFlag(report: ShardReport): boolean {
  return dialledProviders(report).some(({ source }) => source !== 'registry');
}

/** `--provider-shared`: who else dials these providers is known to no table. */
export function isSharedByFlag(report: ShardReport): boolean {
  return (
    report.providerShared &&
    dialledProviders(report).some(({ isShared, source }) => isShared && source !== 'registry')
  );
}

export function isHostLocal(address: string): boolean {
  if (address.startsWith('unix:')) return true;
  const host = address.slice(0, address.lastIndexOf(':')).replace(/^\[|\]$/g, '');
  return host === '' || host === 'localhost' || host === '::1' || host.startsWith('127.');
}

/** Another shard that names this address means the same provider. */
export function isFleetWide(address: string): boolean {
  return address !== '' && !isHostLocal(address);
}

/** Sorted shards by address that several of them dial and that not all declare shared. */
export function diallingConflicts(
  pictures: readonly { readonly shardId: string; readonly report: ShardReport }[],
): ReadonlyMap<string, readonly string[]> {
  const dialling = new Map<string, Map<string, boolean>>();
  for (const { shardId, report } of pictures) {
    for (const { address, isShared } of dialledProviders(report)) {
      if (!isFleetWide(address)) continue;
      const shards = dialling.get(address) ?? new Map<string, boolean>();
      dialling.set(address, shards.set(shardId, isShared && (shards.get(shardId) ?? true)));
    }
  }
  const conflicts = [...dialling].filter(
    ([, shards]) => shards.size > 1 && [...shards.values()].includes(false),
  );
  return new Map(conflicts.map(([address, shards]) => [address, [...shards.keys()]]));
}
