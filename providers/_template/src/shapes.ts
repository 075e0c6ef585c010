// The machine types of this substrate: what each provides and costs. A type without a price stops
// the process at start, because price 0 would win every ranking.

import { forecastInterruption, type Offering } from '@bigfleet/providerkit';

interface Shape {
  readonly allocatable: ReadonlyMap<string, string>;
  /** US dollars. */
  readonly onDemandPerHour: number;
  readonly spotPerHour: number;
}

const shapes: ReadonlyMap<string, Shape> = new Map([
  [
    'example-standard-4',
    {
      allocatable: new Map([
        ['cpu', '3800m'],
        ['memory', '15Gi'],
        ['pods', '110'],
      ]),
      onDemandPerHour: 0.2,
      spotPerHour: 0.06,
    },
  ],
  [
    'example-standard-8',
    {
      allocatable: new Map([
        ['cpu', '7800m'],
        ['memory', '30Gi'],
        ['pods', '110'],
      ]),
      onDemandPerHour: 0.4,
      spotPerHour: 0.12,
    },
  ],
]);

/** What the hardware gives to pods; undefined for a type that this substrate does not have. */
export function allocatableOf(instanceType: string): ReadonlyMap<string, string> | undefined {
  return shapes.get(instanceType)?.allocatable;
}

export function priceOf({
  instanceType,
  capacityType,
  pricePerHour,
}: Offering): number | undefined {
  const shape = shapes.get(instanceType);
  const listed = capacityType === 'Spot' ? shape?.spotPerHour : shape?.onDemandPerHour;
  // The operator's price wins: discounts are known to nobody else.
  return pricePerHour ?? listed;
}

/** Per hour, from the vendor's table of monthly frequencies; this substrate has none. */
export function interruptionOf({ capacityType }: Offering): number {
  return forecastInterruption(capacityType, undefined);
}
