// Homes that a report gives cause to set (coordinator §9.2). The first shard that reports an address owns
// the machines there that no domain matches, also while it is the only one, so that nothing changes hands
// on the day the provider becomes shared. An entry that no shard dials yet gets the first shard that it
// reaches and that obeys the registry: no shard is told to dial a provider without a home.
//
// A home is replaced when no entry leads to it any more and its own report shows that it does not dial the
// provider; otherwise the unmatched machines would have no owner until an operator removes that shard.
//
// After a restore the old home may be a shard that has not reported, so none is set while the address is
// recovering. Then the shard that says it acts as home becomes it; when none says so, because its build is
// older, the shard with the most machines there that no override explains.

import type { ShardReport } from '@bigfleet/wire';
import { shardsOfAddress } from './sharing.ts';
import { dialledProviders, dialsByFlag, isFleetWide } from '../reports/dialled-providers.ts';
import type { SoftState } from '../reports/soft-state.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { CommandOf } from '../state/commands.ts';

export interface HomeScene {
  readonly ledger: Ledger;
  readonly soft: SoftState;
  readonly recovery: {
    recoveringProviders(): ReadonlySet<string> | 'all';
    /** Shards that said, after a restore, that they act as home of the address. */
    homeClaimants(address: string): readonly string[];
  };
}

/** For addresses whose home the reporting shard becomes, sorted by address. */
export function homesToSet(
  scene: HomeScene,
  report: ShardReport,
): readonly CommandOf<'SetProviderHome'>[] {
  const { state: view } = scene.ledger;
  const recoveringProviders = scene.recovery.recoveringProviders();
  if (recoveringProviders === 'all') return [];
  const dialled = dialledProviders(report).map(({ address }) => address);
  const offered = dialsByFlag(report)
    ? []
    : view.providersOf(report.shardId).map(({ address }) => address);
  return [...new Set([...dialled, ...offered])]
    .filter(isFleetWide)
    .filter((address) => !recoveringProviders.has(address))
    .filter((address) => isVacant(scene, address) && isBestKnown(scene, report, address))
    .toSorted()
    .map((providerAddress) => {
      const from = view.home(providerAddress)?.shardId;
      const { shardId: shard } = report;
      const set = { kind: 'SetProviderHome', providerAddress, shard } as const;
      return from === undefined ? set : { ...set, from };
    });
}

/**
 * A home that does not dial the provider acts on nothing there, also with an old assignment on its disk. An
 * older leader cannot make it dial once it has heard this one, and this leader has not while no reply
 * named the provider. A shard that dials by its own flags is never taken for vacant: flags may change.
 */
function isVacant({ ledger, soft }: HomeScene, address: string): boolean {
  const { state: view, term } = ledger;
  const home = view.home(address)?.shardId;
  if (home === undefined) return true;
  const last = soft.picture(home)?.report;
  if (last === undefined || last.observedCoordinatorTerm < term || dialsByFlag(last)) return false;
  if (shardsOfAddress(view, address).has(home)) return false;
  return !soft.maybeDialledBy(home).some((dialled) => dialled.address === address);
}

function isBestKnown(scene: HomeScene, report: ShardReport, address: string): boolean {
  const { recovery, ledger } = scene;
  const claimants = recovery.homeClaimants(address).filter((id) => ledger.state.shard(id));
  if (claimants.length > 0) return claimants.length === 1 && claimants[0] === report.shardId;
  const own = machinesAt(scene, report, address);
  return scene.soft.pictures().every(({ shardId, report: other }) => {
    if (shardId === report.shardId) return true;
    const theirs = machinesAt(scene, other, address);
    if (theirs === undefined) return true;
    return own !== undefined && (own > theirs || (own === theirs && report.shardId < shardId));
  });
}

/** Undefined: the shard does not dial the address. */
function machinesAt(scene: HomeScene, report: ShardReport, address: string): number | undefined {
  const at = dialledProviders(report).find((provider) => provider.address === address);
  // Without those that the shard holds by override, as far as it was asked.
  return at && at.totalCount - (scene.soft.heldBy(report.shardId)?.overrides.size ?? 0);
}
