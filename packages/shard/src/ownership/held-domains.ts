// Which of the domains that we give up hold no machine of ours any more (coordinator §7.2): the ledger
// closes a release when we stop naming the domain, so a machine overlooked here means two owners.
// Machines that we adopted stay ours wherever they stand, and hold no domain.

import { attributeOf, State, type StateCode } from '@bigfleet/engine';
import { compareText } from '@bigfleet/base';
import type { Fleet } from '../fleet/fleet.ts';
import { machinesOfClass } from '../provider/reconcile/known-machines.ts';
import type {
  ReleasingDomain,
  DomainRef,
  MachineOverride,
  ShardAssignment,
  StoredAssignment,
} from './assignment.ts';
import type { OwnershipStore } from './ownership-store.ts';
import type { TransferBook } from './transfer-book.ts';

export function emptyReleasingDomains(
  { assignment, rules }: Pick<OwnershipStore, 'assignment' | 'rules'>,
  { inventory }: Fleet,
): readonly ReleasingDomain[] {
  const open = assignment.releasing.filter(({ isEmpty }) => !isEmpty);
  if (open.length === 0) return [];
  const adopted = new Map<number, number>();
  for (const { machineId } of assignment.adopted) {
    const slot = inventory.slotOf(machineId);
    if (slot < 0) continue;
    const klass = inventory.columns.klass[slot] as number;
    adopted.set(klass, (adopted.get(klass) ?? 0) + 1);
  }
  const held = new Set<ReleasingDomain>();
  const { classes } = inventory;
  for (let klass = 0; klass < classes.length; klass++) {
    const shape = classes.shape(klass);
    if (shape === undefined || rules.ofShape(shape, shape.provider) !== 'releasing') continue;
    if (machinesOfClass(classes, klass) <= (adopted.get(klass) ?? 0)) continue;
    for (const domain of open) {
      if (attributeOf(shape, domain.key) === domain.value) held.add(domain);
    }
  }
  return open.filter((domain) => !held.has(domain));
}

/** Nothing of ours is under way there unless an action is pending. */
const AT_REST: ReadonlySet<StateCode> = new Set([State.Idle, State.Speculative, State.Failed]);

type ForeignFacts = Pick<ShardAssignment, 'foreignDomains' | 'adopted' | 'released'>;

/** As stored, before the assignment that is judged. */
interface HeldBefore {
  readonly adopted: readonly MachineOverride[];
  readonly frozen: ReadonlySet<string>;
}

/**
 * Foreign domains in which this shard still has machines at work: when a domain is carved out of a
 * home, or a provider becomes shared, a machine that serves or is being created there stays this
 * shard's until it is idle. The ledger tells the new owner of the domain only when no shard names it
 * as held (coordinator §7.2), so one domain too few here means that two shards act on one machine. One
 * too many is as bad: a held domain lets every serving machine enter, also those of its owner. So a
 * machine that an override names, or named until now, does not count: an adopted machine that this
 * shard froze for its next owner is listed until the transfer ends, and may be at work there by then.
 * Any other frozen machine counts, also idle: until its transfer has ended it is promised, and the
 * next owner of the domain would use it beside its recipient. Cost: a few array reads per machine;
 * asked once per assignment.
 */
export function heldForeignDomains(
  { foreignDomains, adopted, released }: ForeignFacts,
  before: HeldBefore,
  fleet: Fleet,
): readonly DomainRef[] {
  if (foreignDomains.length === 0) return [];
  const byKey = valuesByKey(foreignDomains);
  const overrides = [...adopted, ...released, ...before.adopted];
  const named = new Set(overrides.map(({ machineId }) => machineId));
  const { ids, columns, classes, slotCount } = fleet.inventory;
  const domainsOf = new Map<number, readonly DomainRef[]>();
  const held = new Set<DomainRef>();
  for (let slot = 0; slot < slotCount; slot++) {
    const id = ids[slot] ?? '';
    if (id === '' || named.has(id)) continue;
    const isAtRest = AT_REST.has(fleet.stateOf(slot)) && fleet.pendingOf(slot) === 'none';
    if (isAtRest && !before.frozen.has(id)) continue;
    const klass = columns.klass[slot] as number;
    let domains = domainsOf.get(klass);
    if (domains === undefined) {
      const shape = classes.shape(klass);
      domains = [...byKey].flatMap(([key, values]) => {
        const value = shape === undefined ? undefined : attributeOf(shape, key);
        return (value === undefined ? undefined : values.get(value)) ?? [];
      });
      domainsOf.set(klass, domains);
    }
    for (const domain of domains) held.add(domain);
  }
  return [...held];
}

function valuesByKey(
  foreign: readonly DomainRef[],
): ReadonlyMap<string, ReadonlyMap<string, DomainRef>> {
  const byKey = [...Map.groupBy(foreign, ({ key }) => key)];
  return new Map(
    byKey.map(([key, domains]) => [key, new Map(domains.map((each) => [each.value, each]))]),
  );
}

/**
 * Other shards that this one knows to own something: owners of its foreign domains, owners of machines
 * by name, and recipients of its transfers. Told to a ledger that was restored from before such a
 * shard registered, which must not hand out what the silent shard is using.
 */
export function otherOwners(
  shardId: string,
  { foreignDomains, released }: StoredAssignment,
  book: TransferBook,
): readonly string[] {
  const given = [...book.records.values()].filter(({ state }) => state !== 'claimed');
  const ids = new Set([
    ...foreignDomains.map((domain) => domain.shardId),
    ...released.map(({ peerShardId }) => peerShardId),
    ...given.map(({ peerShardId }) => peerShardId),
  ]);
  return [...ids].filter((id) => id !== '' && id !== shardId).sort(compareText);
}
