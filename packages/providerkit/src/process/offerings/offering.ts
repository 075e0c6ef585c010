// One bucket of quota (providers A3): so many machines of one type in one place. The offerings are
// the provider's entire quota; it never launches what is not listed. Slot ids are derived, not
// stored, so a restart and another machine compute the same ones.

import type { CapacityTypeName } from '../../model/machine.ts';

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
