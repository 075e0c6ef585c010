// Foreign domains in which this shard still has machines of its own doing: when a domain is carved
// out of what it owned as a home, or a provider becomes shared, what runs there, or is being
// created there at this moment, stays its keeper's until it is idle. The ledger tells the new owner
// of the domain only when no shard names it as held (coordinator §7.2), so one too few here means
// that two shards act on one machine.
// One too many is as bad: a domain that is held lets every machine in enter that serves, also those of
// its owner. So machines that an override names, or named until now, do not count: one that we adopted
// and froze for its next owner is listed until we hear of the end, and may be at work there by then.
// Any other that is frozen counts, also idle: until its transfer has ended it is promised, and whoever
// got it with the domain would use it beside the one to whom it is promised.

import { attributeOf, State, type StateCode } from '@bigfleet/engine';
import type { Fleet } from '../fleet/fleet.ts';
import type { DomainRef, MachineOverride, ShardAssignment } from './assignment.ts';

/** Nothing of ours is under way there unless an action is pending. */
const AT_REST: ReadonlySet<StateCode> = new Set([State.Idle, State.Speculative, State.Failed]);

type ForeignFacts = Pick<ShardAssignment, 'foreignDomains' | 'adopted' | 'released'>;

/** As stored, before the assignment that is judged. */
interface HeldBefore {
  readonly adopted: readonly MachineOverride[];
  readonly frozen: ReadonlySet<string>;
}

/** Cost: a few array reads per machine; asked once per assignment. */
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
    const klass = columns.klass[slot]!;
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
  const byKey = new Map<string, Map<string, DomainRef>>();
  for (const domain of foreign) {
    const values = byKey.get(domain.key) ?? new Map<string, DomainRef>();
    byKey.set(domain.key, values.set(domain.value, domain));
  }
  return byKey;
}
