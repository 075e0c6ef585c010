// One bucket of quota (providers A3): so many machines of one type in one place. The offerings are
// the provider's entire quota; it never launches what is not listed. Slot ids are derived, not
// stored, so a restart and another machine compute the same ones.

import type { CapacityTypeName } from '../../model/machine.ts';
import { BigFleetError } from '@bigfleet/base';

export interface Offering {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityTypeName;
  readonly count: number;
  /** Per replica: what one unit of demand asks for, not the hardware. */
  readonly resources: ReadonlyMap<string, string>;
  readonly labels: ReadonlyMap<string, string>;
  /** The operator's price in US dollars; wins over live and built-in ones. */
  readonly pricePerHour: number | undefined;
  /** Fields of this provider only, e.g. `ocpus`. */
  readonly extra: ReadonlyMap<string, string | number | boolean>;
}

export interface OfferingSlot {
  /** `<provider>/<Capacity>/<type>/<zone>/<index>`; also the machine id. */
  readonly id: string;
  readonly offering: Offering;
}

const INDEX_DIGITS = 3;

export function* offeringSlots(
  provider: string,
  offerings: readonly Offering[],
): Generator<OfferingSlot> {
  for (const offering of offerings) {
    const { capacityType, instanceType, zone } = offering;
    for (let index = 0; index < offering.count; index++) {
      const digits = String(index).padStart(INDEX_DIGITS, '0');
      yield { id: `${provider}/${capacityType}/${instanceType}/${zone}/${digits}`, offering };
    }
  }
}

/**
 * The offerings without a file: `--seed-count` slots spread over the provider's buckets, the rest
 * of the division to the first ones.
 */
export interface MixBucket {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityTypeName;
}

const RESOURCES: ReadonlyMap<string, string> = new Map([
  ['cpu', '1'],
  ['memory', '2Gi'],
]);
const NONE: ReadonlyMap<string, never> = new Map<string, never>();

export function defaultMix(buckets: readonly MixBucket[], seedCount: number): readonly Offering[] {
  const share = Math.floor(seedCount / buckets.length);
  const rest = seedCount % buckets.length;
  return buckets
    .map((bucket, index) => ({
      ...bucket,
      count: share + (index < rest ? 1 : 0),
      resources: RESOURCES,
      labels: NONE,
      pricePerHour: undefined,
      extra: NONE,
    }))
    .filter((offering) => offering.count > 0);
}

/**
 * No offering that costs money may be published at the price zero: it would be the cheapest machine
 * of the whole fleet and win every ranking (providers A7). Bare metal is paid for already and free.
 */
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
