// When a shard may learn that a domain is its own. Until the assignment its machines belong to another
// shard: to the home of their provider, as unmatched, or to the previous owner. If the new owner heard
// of the assignment first, both would act on the machines for a report interval. So the new owner's assignment leaves the
// domain out until every shard that shares a provider with it acts on an assignment that names the domain
// as foreign, and none reports the domain as being released.
// A shard that has not reported to this leader may be acting on anything: the gate waits for it.

import type { ShardReport } from '@bigfleet/wire';
import type { ShardPicture } from '../reports/soft-state.ts';
import { revisionIn } from '../state/meta.ts';
import type { Domain, DomainRow } from '../state/rows.ts';
import { domainOf, textOf } from '../reports/held.ts';
import { appliedBy, type SharingParts, sharersOf } from './sharing.ts';

/** What the shards that share a provider with the new owner act on, by their last reports. */
interface Hearing {
  /** The lowest revision among them; undefined = one of them cannot know the domain as foreign. */
  readonly revision: bigint | undefined;
  readonly releasing: ReadonlySet<string>;
}

/** Whether the reporting shard may learn of one of its domains, as of now. */
export function domainGate(parts: SharingParts, report: ShardReport): (row: DomainRow) => boolean {
  let hearing: Hearing | undefined;
  return (row) => {
    const revision = BigInt(revisionIn(parts.view.meta, row.revision));
    if (appliedBy(parts, report.shardId) >= revision) return true;
    hearing ??= hear(parts, report);
    const { revision: heard, releasing } = hearing;
    return heard !== undefined && heard >= revision && !releasing.has(textOf(row));
  };
}

function hear(parts: SharingParts, report: ShardReport): Hearing {
  const pictures = sharersOf(parts, report).ids.map((id) => parts.soft.picture(id));
  if (pictures.includes(undefined)) return { revision: undefined, releasing: new Set() };
  const addresses = addressesOf(parts, report.shardId);
  const relevant = pictures
    .filter((picture) => picture !== undefined)
    .filter(({ shardId }) => mayDial(parts, shardId, addresses));
  const releasing = relevant.flatMap(({ report: { releasingDomains } }) =>
    releasingDomains.map((ref) => textOf(domainOf(ref))),
  );
  return {
    revision: heardRevision(parts, relevant, report.shardId),
    releasing: new Set(releasing),
  };
}

const EVERYTHING = 2n ** 63n;

function heardRevision(
  parts: SharingParts,
  relevant: readonly ShardPicture[],
  shardId: string,
): bigint | undefined {
  let lowest = EVERYTHING;
  for (const { shardId: id, report } of relevant) {
    if (!sharersOf(parts, report).ids.includes(shardId)) return undefined;
    const applied = appliedBy(parts, id);
    if (applied < lowest) lowest = applied;
  }
  return lowest;
}

function addressesOf({ view, soft }: SharingParts, shardId: string): ReadonlySet<string> {
  const entries = view.providersOf(shardId);
  return new Set([...soft.maybeDialledBy(shardId), ...entries].map(({ address }) => address));
}

function mayDial(parts: SharingParts, shardId: string, addresses: ReadonlySet<string>): boolean {
  return parts.soft.maybeDialledBy(shardId).some(({ address }) => addresses.has(address));
}

/**
 * Releases that a report closes (coordinator §7.2): the shard acts on an assignment at least as new as
 * the release, and does not name the domain any more. Without the first half a report that was on its
 * way when the domain was unassigned would close the release while the shard still uses the machines;
 * a shard of an old build, which never names a domain, never closes one.
 */
export function closedReleases(parts: SharingParts, report: ShardReport): readonly Domain[] {
  const { view } = parts;
  const releasing = view.domainsOf(report.shardId).filter(({ state }) => state === 'RELEASING');
  if (releasing.length === 0) return [];
  const applied = appliedBy(parts, report.shardId);
  const named = new Set(report.releasingDomains.map((ref) => textOf(domainOf(ref))));
  return releasing.filter(
    (row) => applied >= BigInt(revisionIn(view.meta, row.revision)) && !named.has(textOf(row)),
  );
}
