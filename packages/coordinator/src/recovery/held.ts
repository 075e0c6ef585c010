// What one shard has answered to `send_held` (coordinator §10.5): the domains, overrides and
// registry providers it acts on. An empty answer must be told from no answer, or a restored ledger
// would take away what the shard is using; see `isAnswer`.

import {
  type DomainRef,
  type ProviderTarget,
  type ShardReport,
  TransferState,
} from '@bigfleet/wire';
import { textOf } from '../assignment/domain-gate.ts';
import { dialledProviders, isFleetWide } from '../reports/dialled-providers.ts';
import type { Domain } from '../state/rows.ts';

export interface Held {
  /** By `textOf`. */
  readonly domains: ReadonlyMap<string, Domain>;
  /** Being given up, with machines in it. */
  readonly releasing: readonly Domain[];
  /** Transfer by machine id. */
  readonly overrides: ReadonlyMap<string, string>;
  readonly providers: ReadonlyMap<string, ProviderTarget>;
  /** Addresses that it dials and whose unmatched machines it acts on. */
  readonly homes: ReadonlySet<string>;
  /** Shards that it knows to own something beside it. */
  readonly others: ReadonlySet<string>;
  /** Machines that the shard has durably claimed as a recipient. */
  readonly claimed: ReadonlySet<string>;
  /** Machines that stand frozen for another, with the transfer: still listed, never acted on. */
  readonly frozen: ReadonlyMap<string, string>;
  /** It obeys this leadership or a later one: what an older leader says reaches it no more. */
  readonly hasHeardUs: boolean;
}

export function heldOf(report: ShardReport, term: bigint): Held {
  const domains = report.heldDomains.filter(({ topologyKey }) => topologyKey !== '').map(domainOf);
  // Without a key it is no domain: with an address the home there, with neither another shard.
  const keyless = report.heldDomains.filter(({ topologyKey }) => topologyKey === '');
  const dialled = fleetAddresses(report);
  const homes = keyless.map(({ topologyValue }) => topologyValue).filter((at) => dialled.has(at));
  const others = keyless
    .filter(({ topologyValue }) => topologyValue === '')
    .map(({ shardId }) => shardId);
  return {
    domains: new Map(domains.map((domain) => [textOf(domain), domain])),
    releasing: report.releasingDomains.map(domainOf),
    overrides: new Map(report.heldOverrides.map((held) => [held.machineId, held.transferId])),
    providers: new Map(report.heldProviders.map((target) => [target.name, target])),
    homes: new Set(homes),
    others: new Set(others.filter((id) => id !== '' && id !== report.shardId)),
    claimed: new Set(inState(report, TransferState.CLAIMED).keys()),
    frozen: inState(report, TransferState.FROZEN),
    hasHeardUs: report.observedCoordinatorTerm >= term,
  };
}

function domainOf({ topologyKey: key, topologyValue: value }: DomainRef): Domain {
  return { key, value };
}

/** Transfer by machine. */
function inState(report: ShardReport, wanted: TransferState): ReadonlyMap<string, string> {
  const statuses = report.transfers.filter(({ state }) => state === wanted);
  return new Map(
    statuses.flatMap(({ transferId, machineIds }) =>
      machineIds.map((machineId): [string, string] => [machineId, transferId]),
    ),
  );
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
