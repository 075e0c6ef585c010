// The quota of a simulated provider, slot by slot, each with the place where its machine stands.

import { type Offering, type OfferingSlot, offeringSlots } from '@bigfleet/providerkit';
import { type ProviderName, RACK_KEY } from '../places.ts';
import { rackNames } from './shapes.ts';

export interface SimulatedSlot extends OfferingSlot {
  /** Region and rack. */
  readonly labels: ReadonlyMap<string, string>;
}

export function slotsOf(
  provider: ProviderName,
  offerings: readonly Offering[],
): readonly SimulatedSlot[] {
  const rackOf = rackNames(provider, offerings);
  let offeringBefore: Offering | undefined;
  let index = 0;
  return [...offeringSlots(provider, offerings)].map((slot) => {
    index = slot.offering === offeringBefore ? index + 1 : 0;
    offeringBefore = slot.offering;
    const labels = new Map([...slot.offering.labels, [RACK_KEY, rackOf(slot.offering, index)]]);
    return { ...slot, labels };
  });
}
