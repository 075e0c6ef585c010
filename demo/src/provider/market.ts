// What spot machines cost at this moment: their price on a quiet market, times the factor of a spike while
// one lasts. Every other price stands in a list.

import type { Offering } from '@bigfleet/providerkit';
import { priceOf, rounded } from './shapes.ts';

export class Market {
  spotFactor = 1;

  /** NaN for a type that is not sold, which the kit refuses by name. */
  priceOf(offering: Offering): number {
    const quiet = priceOf(offering) ?? Number.NaN;
    return offering.capacityType === 'Spot' ? rounded(quiet * this.spotFactor) : quiet;
  }
}
