// Which shards take part in a pass and what supply they report. A shard that fell silent neither
// gives nor takes: its picture may describe machines that are long gone. Capacity moves only behind
// one provider address that both shards dial and both declare shared (coordinator §9.2).

import { dialledProviders, isFleetWide } from '../reports/dialled-providers.ts';
import type { ShardPicture } from '../reports/soft-state.ts';

const MIN_STALE_MS = 30_000;
const STALE_INTERVALS = 3;

export interface ProviderSupply {
  readonly name: string;
  readonly address: string;
  readonly idle: number;
  /** Machines in any state but Speculative. */
  readonly held: number;
  readonly isShared: boolean;
}

export function isFresh(picture: ShardPicture, nowMs: number): boolean {
  const staleAfterMs = Math.max(MIN_STALE_MS, STALE_INTERVALS * (picture.intervalMs ?? 0));
  return nowMs - picture.receivedAtMs < staleAfterMs;
}

export function supplyOf(picture: ShardPicture): readonly ProviderSupply[] {
  const { summary } = picture;
  return dialledProviders(picture.report).map((provider, at) => ({
    name: provider.name,
    address: provider.address,
    idle: summary.providers[at]?.idleMachines ?? summary.idleMachines,
    held: provider.totalCount - provider.speculativeCount,
    isShared: provider.isShared,
  }));
}

/** Addresses that several shards dial while one of them does not declare it shared. */
export function conflictedAddresses(pictures: readonly ShardPicture[]): ReadonlySet<string> {
  const dialCount = new Map<string, number>();
  const undeclared = new Set<string>();
  for (const picture of pictures) {
    for (const { address, isShared } of supplyOf(picture)) {
      if (!isFleetWide(address)) continue;
      dialCount.set(address, (dialCount.get(address) ?? 0) + 1);
      if (!isShared) undeclared.add(address);
    }
  }
  return new Set([...undeclared].filter((address) => (dialCount.get(address) ?? 0) > 1));
}
