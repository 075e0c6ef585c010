// Quota slots for a fake: the same ones for the same arguments, a third of them spot.

import { CapacityType } from '@bigfleet/engine';
import type { FakeSpec } from './fake-machine.ts';

const zones: readonly string[] = ['fake-zone-a', 'fake-zone-b', 'fake-zone-c'];
const instanceType = 'fake-standard-4';

export interface SeedOptions {
  readonly provider: string;
  readonly count: number;
}

/** Ids are `<provider>/<Capacity>/<instance type>/<zone>/<index>`. */
export function* seedSpecs({ provider, count }: SeedOptions): Iterable<FakeSpec> {
  const resources = new Map([
    ['cpu', '4'],
    ['memory', '16Gi'],
  ]);
  const allocatable = new Map([
    ['cpu', '3800m'],
    ['memory', '15Gi'],
    ['pods', '110'],
  ]);
  const labels = new Map([['fake.bigfleet/pool', 'default']]);
  for (let index = 0; index < count; index++) {
    const isSpot = index % 3 === 2;
    const zone = zones[index % zones.length] ?? '';
    const name = `${isSpot ? 'Spot' : 'OnDemand'}/${instanceType}/${zone}`;
    yield {
      id: `${provider}/${name}/${String(index).padStart(3, '0')}`,
      instanceType,
      zone,
      capacityType: isSpot ? CapacityType.Spot : CapacityType.OnDemand,
      pricePerHour: isSpot ? 0.12 : 0.4,
      interruptionProbability: isSpot ? 0.05 : 0,
      resources,
      allocatable,
      labels,
    };
  }
}
