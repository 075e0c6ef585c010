// What one shard has answered to `send_held` (§10.5): the domains, overrides and registry providers
// it acts on. An empty answer must be told from no answer, or a restored ledger would take away what
// the shard is using; see `isAnswer`.

import type { ProviderTarget, ShardReport } from '@bigfleet/wire';
import { TransferState } from '@bigfleet/wire';
import { textOf } from '../assignment/domain-gate.ts';
import { dialledProviders, isFleetWide } from '../reports/dialled-providers.ts';
import type { Domain } from '../state/rows.ts';

export interface Held {
  /** By `textOf`. */
  readonly domains: ReadonlyMap<string, Domain>;
  /** Transfer by machine id. */
  readonly overrides: ReadonlyMap<string, string>;
  readonly providers: ReadonlyMap<string, ProviderTarget>;
  /** Addresses whose unmatched machines it acts on. */
  readonly homes: ReadonlySet<string>;
  /** Machines that the shard has durably claimed as a recipient. */
  readonly claimed: ReadonlySet<string>;
  /** Machines that stand frozen for another: still listed, never acted on. */
  readonly givenUp: ReadonlySet<string>;
  /** Transfers that it still has a record of. */
  readonly transferIds: ReadonlySet<string>;
  /** Fleet-wide addresses that it dials. */
  readonly addresses: ReadonlySet<string>;
}

export function heldOf(report: ShardReport): Held {
  const named = report.heldDomains.map(({ topologyKey: key, topologyValue: value }) => ({
    key,
    value,
  }));
  // The domain without a key is what no domain matches at an address: its home.
  const domains = named.filter(({ key }) => key !== '');
  const homes = named.filter(({ key }) => key === '').map(({ value }) => value);
  const inState = (...states: TransferState[]): ReadonlySet<string> => {
    const statuses = report.transfers.filter(({ state }) => states.includes(state));
    return new Set(statuses.flatMap(({ machineIds }) => machineIds));
  };
  return {
    domains: new Map(domains.map((domain) => [textOf(domain), domain])),
    overrides: new Map(report.heldOverrides.map((held) => [held.machineId, held.transferId])),
    providers: new Map(report.heldProviders.map((target) => [target.name, target])),
    homes: new Set(homes),
    claimed: inState(TransferState.CLAIMED),
    givenUp: inState(TransferState.FROZEN),
    transferIds: new Set(report.transfers.map(({ transferId }) => transferId)),
    addresses: fleetAddresses(report),
  };
}

export function fleetAddresses(report: ShardReport): ReadonlySet<string> {
  return new Set(
    dialledProviders(report)
      .map(({ address }) => address)
      .filter(isFleetWide),
  );
}

export interface Asking {
  readonly epoch: bigint;
  /** Replies with `send_held` to reports of this epoch. */
  readonly count: number;
}

/**
 * Lists that hold something prove themselves. Empty ones are believed only from a process that knows
 * this leader's term, was asked, and reports no revision: it took in the incomplete assignment that
 * comes with the question, or never had any. A term or a count of replies alone proves nothing: the
 * term survives a restart, and any number of replies may be lost. Nor is it believed while it says
 * that it dials something from the registry: that it would hold. An old shard never qualifies, so
 * its providers stay in recovery until it is removed.
 */
export function isAnswer(report: ShardReport, asking: Asking | undefined, term: bigint): boolean {
  const { heldDomains, heldOverrides, heldProviders } = report;
  if (heldDomains.length + heldOverrides.length + heldProviders.length > 0) return true;
  if (asking === undefined || asking.epoch !== report.shardEpoch || asking.count < 2) return false;
  if (report.assignmentRevision !== 0n) return false;
  const dialsRegistry = dialledProviders(report).some(({ source }) => source === 'registry');
  return report.observedCoordinatorTerm >= term && !dialsRegistry;
}
