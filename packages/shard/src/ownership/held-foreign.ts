// Foreign domains in which this shard still has machines of its own doing: when a domain is carved
// out of what it owned as a home, or a provider becomes shared, what runs there, or is being
// created there at this moment, stays its keeper's until it is idle. The ledger tells the new owner
// of the domain only when no shard names it as held (coordinator §7.2), so one too few here means
// that two shards act on one machine.

import { attributeOf, State, type StateCode } from '@bigfleet/engine';
import type { Fleet } from '../fleet/fleet.ts';
import type { DomainRef, MachineOverride } from './assignment.ts';

/** Nothing of ours is under way there unless an action is pending. */
const AT_REST: ReadonlySet<StateCode> = new Set([State.Idle, State.Speculative, State.Failed]);

/** Cost: a few array reads per machine; asked once per assignment. */
export function heldForeignDomains(
  foreign: readonly DomainRef[],
  adopted: readonly MachineOverride[],
  fleet: Fleet,
): readonly DomainRef[] {
  if (foreign.length === 0) return [];
  const byKey = valuesByKey(foreign);
  const named = new Set(adopted.map(({ machineId }) => machineId));
  const { ids, columns, classes, slotCount } = fleet.inventory;
  const domainsOf = new Map<number, readonly DomainRef[]>();
  const held = new Set<DomainRef>();
  for (let slot = 0; slot < slotCount; slot++) {
    const id = ids[slot] ?? '';
    if (id === '' || named.has(id)) continue;
    if (AT_REST.has(fleet.stateOf(slot)) && fleet.pendingOf(slot) === 'none') continue;
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
  const byKey = new Map<string, Map<string, DomainRef>>();
  for (const domain of foreign) {
    const values = byKey.get(domain.key) ?? new Map<string, DomainRef>();
    byKey.set(domain.key, values.set(domain.value, domain));
  }
  return byKey;
}
