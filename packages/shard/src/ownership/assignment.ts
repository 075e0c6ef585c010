// What the coordinator's ledger gives to this shard (coordinator §5.2, ShardAssignment), as plain
// values, and how a newer one replaces it. Pure.
//
// A complete assignment of the same or a newer generation replaces everything. Any other comes from
// a ledger that is older than the shards (a restore that still recovers, coordinator §10.5): ownership then
// stays exactly as stored, because both giving up and taking on its word could leave a machine
// with two owners; only providers to dial and quota rows that were unknown are added.

export interface Domain {
  readonly key: string;
  readonly value: string;
}

export interface DomainRef extends Domain {
  /** Whose it is. */
  readonly shardId: string;
}

export interface MachineOverride {
  readonly machineId: string;
  readonly transferId: string;
  /** The other shard of the transfer. */
  readonly peerShardId: string;
}

export interface QuotaSlice {
  /** The registry's name. */
  readonly provider: string;
  readonly region: string;
  readonly slice: number;
}

export interface RegistryTarget {
  readonly name: string;
  readonly address: string;
  readonly region: string;
  /** Several shards dial it: the ownership rules apply. */
  readonly isShared: boolean;
}

export interface ShardAssignment {
  readonly revision: bigint;
  readonly generation: bigint;
  readonly isComplete: boolean;
  readonly domains: readonly DomainRef[];
  readonly foreignDomains: readonly DomainRef[];
  readonly quotas: readonly QuotaSlice[];
  readonly adopted: readonly MachineOverride[];
  readonly released: readonly MachineOverride[];
  /** Addresses of providers whose unmatched machines are this shard's. */
  readonly ownsUnmatchedProviders: readonly string[];
  readonly providers: readonly RegistryTarget[];
}

/** The part that is kept, always usable as a whole. */
export interface StoredAssignment extends Omit<ShardAssignment, 'isComplete'> {
  /** Being given up, until the ledger says whose they are: not ours to acquire from. */
  readonly releasing: readonly ReleasingDomain[];
  /** Transfer records up to this number are already in `adopted` and `released`. */
  readonly foldedOrder: number;
}

export interface ReleasingDomain extends Domain {
  /** Nothing of ours is there, and nothing enters any more: a report says so, or is about to. */
  readonly isEmpty: boolean;
}

export const noAssignmentYet: StoredAssignment = {
  revision: 0n,
  generation: 0n,
  domains: [],
  foreignDomains: [],
  quotas: [],
  adopted: [],
  released: [],
  ownsUnmatchedProviders: [],
  providers: [],
  releasing: [],
  foldedOrder: 0,
};

/**
 * Neither a restored ledger that recovers, nor one older than the stored assignment. The revision says
 * nothing here: a leader lowers it when it holds something back, so that it is asked again.
 */
export function isAuthoritative(stored: StoredAssignment, incoming: ShardAssignment): boolean {
  return incoming.isComplete && incoming.generation >= stored.generation;
}

export function replaceAssignment(
  stored: StoredAssignment,
  incoming: ShardAssignment,
  foldedOrder: number,
): StoredAssignment {
  const { isComplete: _, ...rest } = incoming;
  return { ...rest, releasing: releasingAfter(stored, incoming), foldedOrder };
}

/** Additive: nothing of ownership moves. */
export function extendAssignment(
  stored: StoredAssignment,
  incoming: ShardAssignment,
): StoredAssignment {
  const quotas = unionBy(stored.quotas, incoming.quotas, ({ provider, region }) =>
    JSON.stringify([provider, region]),
  );
  const providers = unionBy(stored.providers, incoming.providers, ({ name }) => name);
  return { ...stored, quotas, providers };
}

export function domainId({ key, value }: Domain): string {
  return JSON.stringify([key, value]);
}

export function withDomain(stored: StoredAssignment, domain: DomainRef): StoredAssignment {
  const id = domainId(domain);
  return {
    ...stored,
    domains: [...without(stored.domains, id), domain],
    foreignDomains: without(stored.foreignDomains, id),
    releasing: without(stored.releasing, id),
  };
}

/** Stops being acquired from at once; what runs there is kept until it is idle. */
export function withoutDomain(stored: StoredAssignment, domain: Domain): StoredAssignment {
  const id = domainId(domain);
  if (!stored.domains.some((held) => domainId(held) === id)) return stored;
  const { key, value } = domain;
  return {
    ...stored,
    domains: without(stored.domains, id),
    releasing: [...without(stored.releasing, id), { key, value, isEmpty: false }],
  };
}

/** Newly foreign, but machines of ours run there: they stay ours until they are idle. */
export function withReleasing(stored: StoredAssignment, held: readonly Domain[]): StoredAssignment {
  const open = held.map(({ key, value }) => ({ key, value, isEmpty: false }));
  const marked = new Set(stored.releasing.filter(({ isEmpty }) => !isEmpty).map(domainId));
  if (open.every((domain) => marked.has(domainId(domain)))) return stored;
  const ids = new Set(open.map(domainId));
  const others = stored.releasing.filter((domain) => !ids.has(domainId(domain)));
  return { ...stored, releasing: [...others, ...open] };
}

/** Domains that are being given up, and hold nothing of ours. */
export function withEmpty(
  stored: StoredAssignment,
  emptied: ReadonlySet<string>,
): StoredAssignment {
  const releasing = stored.releasing.map((domain) =>
    emptied.has(domainId(domain)) ? { ...domain, isEmpty: true } : domain,
  );
  return { ...stored, releasing };
}

export function withQuota(stored: StoredAssignment, slice: QuotaSlice): StoredAssignment {
  const others = stored.quotas.filter(
    ({ provider, region }) => provider !== slice.provider || region !== slice.region,
  );
  return { ...stored, quotas: [...others, slice] };
}

/**
 * A domain that the ledger no longer gives us stays marked while it holds machines of ours. Once it is
 * empty the next whole assignment ends the mark: it answers a report that said so, and who owns the
 * domain from then on, a home for example, is in it.
 */
function releasingAfter(
  stored: StoredAssignment,
  incoming: ShardAssignment,
): readonly ReleasingDomain[] {
  const given = new Set(incoming.domains.map(domainId));
  const lost = stored.domains.map(({ key, value }) => ({ key, value, isEmpty: false }));
  const waiting = unionBy<ReleasingDomain>(stored.releasing, lost, domainId);
  return waiting.filter((domain) => !domain.isEmpty && !given.has(domainId(domain)));
}

function unionBy<T>(first: readonly T[], second: readonly T[], keyOf: (item: T) => string): T[] {
  const known = new Set(first.map(keyOf));
  return [...first, ...second.filter((item) => !known.has(keyOf(item)))];
}

function without<T extends Domain>(domains: readonly T[], id: string): T[] {
  return domains.filter((domain) => domainId(domain) !== id);
}
