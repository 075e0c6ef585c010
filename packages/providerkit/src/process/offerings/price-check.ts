// No offering that costs money may be published at the price zero: it would be the cheapest machine
// of the whole fleet and win every ranking (providers A7). Bare metal is paid for already and free.

import { BigFleetError } from '@bigfleet/base';
import type { Offering } from './offering.ts';

export type PriceOf = (offering: Offering) => number | undefined;

/** Throws `price_missing` and names every type without a price. */
export function refuseUnpriced(offerings: readonly Offering[], priceOf: PriceOf): void {
  const unpriced = offerings.filter(
    (offering) => isBilled(offering) && !hasPrice(offering, priceOf),
  );
  if (unpriced.length === 0) return;
  const names = unpriced.map(
    ({ instanceType, zone, capacityType }) => `${instanceType} (${capacityType}, ${zone})`,
  );
  throw new BigFleetError(
    'price_missing',
    `no price is known for ${names.join(', ')}: at a price of zero they would win every ` +
      'ranking. Set price_usd_per_hour in the offerings file, or make live prices reachable',
  );
}

function isBilled({ capacityType }: Offering): boolean {
  return capacityType !== 'BareMetal';
}

function hasPrice(offering: Offering, priceOf: PriceOf): boolean {
  const price = offering.pricePerHour ?? priceOf(offering);
  return price !== undefined && Number.isFinite(price) && price > 0;
}
