// Which homes a report gives cause to set (coordinator §9.2): the first shard that reports an address owns what no
// domain matches there, also while it is the only one, so that nothing changes hands on the day the
// provider becomes shared. An entry that nobody dials yet gets the first shard it reaches that obeys
// the registry: no shard is told to dial a provider that has no home.
// A home is replaced when no entry leads to it any more and it has let go of the provider by its own
// word; else nobody would own the unmatched machines until somebody removes that shard.
// After a restore the old home may be another shard that has not been heard: while the address is
// recovering none is set. Then the shard is believed that says it acts as home; when none says so,
// because it is an old one, the shard with the most machines there that no override explains.

import type { ShardReport } from '@bigfleet/wire';
import { reaches, shardsOfAddress } from './sharing.ts';
import { dialledProviders, dialsByFlag, isFleetWide } from '../reports/dialled-providers.ts';
import type { SoftState } from '../reports/soft-state.ts';
import type { CommandBody } from '../state/commands.ts';
import type { FleetView } from '../state/fleet-view.ts';

export interface HomeScene {
  readonly view: FleetView;
  readonly soft: SoftState;
  readonly term: bigint;
  readonly recoveringProviders: ReadonlySet<string> | 'all';
  /** Machines that a shard holds by override, as far as it was asked. */
  readonly heldOverrideCount: (shardId: string) => number;
  /** Shards that said, after a restore, that they act as home of the address. */
  readonly homeClaimants: (address: string) => readonly string[];
}

type SetProviderHome = Extract<CommandBody, { kind: 'SetProviderHome' }>;

/** For addresses whose home the reporting shard becomes, sorted by address. */
export function homesToSet(scene: HomeScene, report: ShardReport): readonly SetProviderHome[] {
  const { view, recoveringProviders } = scene;
  if (recoveringProviders === 'all') return [];
  const dialled = dialledProviders(report).map(({ address }) => address);
  const offered = dialsByFlag(report)
    ? []
    : view
        .providers()
        .filter((entry) => reaches(entry, report.shardId))
        .map(({ address }) => address);
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
 * Whoever does not dial a provider acts on nothing there, whatever assignment it still keeps. That it
 * never will on the word of an older leader is certain once it has heard this one; that it will not
 * on ours, while no reply has told it to; flags are not ours to know.
 */
function isVacant({ view, soft, term }: HomeScene, address: string): boolean {
  const home = view.home(address)?.shardId;
  if (home === undefined) return true;
  const last = soft.picture(home)?.report;
  if (last === undefined || last.observedCoordinatorTerm < term || dialsByFlag(last)) return false;
  if (shardsOfAddress(view, address).has(home)) return false;
  return !soft.maybeDialledBy(home).some((dialled) => dialled.address === address);
}

function isBestKnown(scene: HomeScene, report: ShardReport, address: string): boolean {
  const claimants = scene.homeClaimants(address).filter((id) => scene.view.shard(id) !== undefined);
  if (claimants.length > 0) return claimants.length === 1 && claimants[0] === report.shardId;
  const own = machinesAt(scene, report, address);
  return scene.soft.pictures().every(({ shardId, report: other }) => {
    if (shardId === report.shardId) return true;
    const theirs = machinesAt(scene, other, address);
    if (theirs === undefined) return true;
    return own !== undefined && (own > theirs || (own === theirs && report.shardId < shardId));
  });
}

/** Undefined: it does not dial it. */
function machinesAt(scene: HomeScene, report: ShardReport, address: string): number | undefined {
  const at = dialledProviders(report).find((provider) => provider.address === address);
  return at && at.totalCount - scene.heldOverrideCount(report.shardId);
}
