// What one shard has answered to `send_held` (coordinator §10.5): the domains, machines, homes and
// registry providers it acts on, and each of them as a claim that recovery judges (recovery/claims.ts).
// An empty answer must be told from no answer, or a restored ledger would take away what the shard is
// using; see `isAnswer`. Pure.

import {
  type DomainRef,
  type ProviderTarget,
  type ShardReport,
  TransferState,
} from '@bigfleet/wire';
import type { Domain } from '../state/rows.ts';
import { dialledProviders, isFleetWide } from './dialled-providers.ts';

export interface Held {
  /** By `textOf`. */
  readonly domains: ReadonlyMap<string, Domain>;
  /** Domains that the shard gives up and that still hold machines of it. */
  readonly releasing: readonly Domain[];
  /** Transfer by machine id. */
  readonly overrides: ReadonlyMap<string, string>;
  readonly providers: ReadonlyMap<string, ProviderTarget>;
  /** Addresses that the shard dials and whose unmatched machines it acts on. */
  readonly homes: ReadonlySet<string>;
  /** Other shards that it knows to own something. */
  readonly others: ReadonlySet<string>;
  /** Machines that the shard has durably claimed as a recipient. */
  readonly claimed: ReadonlySet<string>;
  /** Transfer by machine that stands frozen for another shard: still listed, never acted on. */
  readonly frozen: ReadonlyMap<string, string>;
  /** The shard obeys this leadership or a later one, so an older leader cannot move it any more. */
  readonly hasHeardUs: boolean;
}

export type Claim =
  | { readonly kind: 'domain' | 'releasing'; readonly shardId: string; readonly domain: Domain }
  | {
      readonly kind: 'override';
      readonly shardId: string;
      readonly machineId: string;
      readonly transferId: string;
    }
  | { readonly kind: 'home'; readonly shardId: string; readonly address: string }
  | { readonly kind: 'provider'; readonly shardId: string; readonly target: ProviderTarget };

export function heldOf(report: ShardReport, term: bigint): Held {
  const domains = report.heldDomains.filter(({ topologyKey }) => topologyKey !== '').map(domainOf);
  // A shard of an older build names a home as a domain without a key, and another shard as one without
  // key and value.
  const keyless = report.heldDomains.filter(({ topologyKey }) => topologyKey === '');
  const dialled = fleetAddresses(report);
  const homes = [...report.heldHomes, ...keyless.map(({ topologyValue }) => topologyValue)];
  const nameless = keyless.filter(({ topologyValue }) => topologyValue === '');
  const others = [...report.knownShards, ...nameless.map(({ shardId }) => shardId)];
  return {
    domains: new Map(domains.map((domain) => [textOf(domain), domain])),
    releasing: report.releasingDomains.map(domainOf),
    overrides: new Map(report.heldOverrides.map((held) => [held.machineId, held.transferId])),
    providers: new Map(report.heldProviders.map((target) => [target.name, target])),
    homes: new Set(homes.filter((at) => dialled.has(at))),
    others: new Set(others.filter((id) => id !== '' && id !== report.shardId)),
    claimed: new Set(inState(report, TransferState.CLAIMED).keys()),
    frozen: inState(report, TransferState.FROZEN),
    hasHeardUs: report.observedCoordinatorTerm >= term,
  };
}

export function claimsOf(shardId: string, held: Held): readonly Claim[] {
  const claims: Claim[] = [];
  for (const target of held.providers.values()) claims.push({ kind: 'provider', shardId, target });
  for (const domain of held.domains.values()) claims.push({ kind: 'domain', shardId, domain });
  for (const domain of held.releasing) claims.push({ kind: 'releasing', shardId, domain });
  for (const address of held.homes) claims.push({ kind: 'home', shardId, address });
  for (const [machineId, transferId] of held.overrides) {
    claims.push({ kind: 'override', shardId, machineId, transferId });
  }
  return claims;
}

/** The thing that is claimed, as `bigfleetctl status` prints it. */
export function subjectOf(claim: Claim): string {
  switch (claim.kind) {
    case 'domain':
    case 'releasing':
      return domainSubject(claim.domain);
    case 'override':
      return `machine ${claim.machineId}`;
    case 'home':
      return `home ${claim.address}`;
    case 'provider':
      return providerSubject(claim.target.name);
  }
}

export function domainSubject(domain: Domain): string {
  return `domain ${domain.key}=${domain.value}`;
}

export function providerSubject(name: string): string {
  return `provider ${name}`;
}

export interface Asking {
  readonly epoch: bigint;
  /** Replies with `send_held` to reports of this epoch. */
  readonly count: number;
}

/**
 * Lists that hold something prove themselves. Empty lists are believed only from a process that knows
 * this leader's term, was asked, and reports no revision: it took in the incomplete assignment that
 * comes with the question, or never had one. A term or a count of replies alone proves nothing: the
 * term survives a restart, and any number of replies may be lost. A shard that dials something from the
 * registry is not believed either, because it would hold that. A shard of an old build never qualifies,
 * so its providers stay in recovery until it is removed.
 */
export function isAnswer(report: ShardReport, asking: Asking | undefined, term: bigint): boolean {
  const { heldDomains, heldOverrides, heldProviders, heldHomes, knownShards } = report;
  const lists = [heldDomains, heldOverrides, heldProviders, heldHomes, knownShards];
  if (lists.some(({ length }) => length > 0)) return true;
  if (asking === undefined || asking.epoch !== report.shardEpoch || asking.count < 2) return false;
  if (report.assignmentRevision !== 0n) return false;
  const dialsRegistry = dialledProviders(report).some(({ source }) => source === 'registry');
  return report.observedCoordinatorTerm >= term && !dialsRegistry;
}

/** Addresses that the shard dials and that mean the same provider for every shard. */
export function fleetAddresses(report: ShardReport): ReadonlySet<string> {
  return new Set(
    dialledProviders(report)
      .map(({ address }) => address)
      .filter(isFleetWide),
  );
}

/** Keys and values may hold any character, so they are joined by length, not by a separator. */
export function textOf(domain: Domain): string {
  return `${domain.key.length}:${domain.key}${domain.value}`;
}

export function domainOf({ topologyKey: key, topologyValue: value }: DomainRef): Domain {
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
