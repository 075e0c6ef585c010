// What the two simulated providers sell, with honest sizes and prices: the types that the workload
// catalogue asks for, and some more for people. What is left out on purpose is one type that a demo
// workload wants, so that there is always one need that no money can buy. The cloud sells in all zones; the
// bare metal stands in one, and whoever does not own that zone can't have it but by a transfer.

import type { CapacityTypeName, MixBucket, Offering } from '@bigfleet/providerkit';
import {
  METAL_TYPE,
  METAL_ZONE,
  type ProviderName,
  regionOf,
  REGION_KEY,
  ZONES,
} from '../places.ts';

interface Shape {
  readonly cpu: string;
  readonly memory: string;
  readonly gpu?: string;
  /** US dollars. */
  readonly onDemandPerHour: number;
  readonly capacityTypes: readonly CapacityTypeName[];
}

const CLOUD: readonly CapacityTypeName[] = ['OnDemand', 'Spot'];
const COMMITTED: readonly CapacityTypeName[] = [...CLOUD, 'Reserved'];

function core(
  size: readonly [cpu: string, memory: string],
  onDemandPerHour: number,
  capacityTypes: readonly CapacityTypeName[] = CLOUD,
): Shape {
  const [cpu, memory] = size;
  return { cpu, memory, onDemandPerHour, capacityTypes };
}

function withGpu(size: readonly [cpu: string, memory: string, gpu: string], price: number): Shape {
  const [cpu, memory, gpu] = size;
  return { cpu, memory, gpu, onDemandPerHour: price, capacityTypes: ['OnDemand'] };
}

/** Whole machines under a contract, in every zone: a gang of the highest priority gets a rack of them. */
export const RACK_TYPE = 'c7i.metal-24xl';

/** Sizes are about what is left for pods on real machines of these names. */
const shapesOf: Readonly<Record<ProviderName, ReadonlyMap<string, Shape>>> = {
  'sim-north': new Map([
    ['m6i.large', core(['1900m', '6Gi'], 0.096)],
    ['m6i.xlarge', core(['3800m', '14Gi'], 0.192)],
    ['m6i.2xlarge', core(['7600m', '29Gi'], 0.384, COMMITTED)],
    ['m7i.xlarge', core(['3800m', '14Gi'], 0.202)],
    ['m7i.2xlarge', core(['7600m', '29Gi'], 0.403)],
    ['c6i.4xlarge', core(['15200m', '28Gi'], 0.68, COMMITTED)],
    ['c6i.8xlarge', core(['30400m', '58Gi'], 1.36)],
    ['n2-standard-32', core(['30400m', '120Gi'], 1.55)],
    ['r6i.xlarge', core(['3800m', '29Gi'], 0.252)],
    ['r6i.2xlarge', core(['7600m', '60Gi'], 0.504)],
    ['r6i.4xlarge', core(['15200m', '122Gi'], 1.008, COMMITTED)],
    ['a2-highgpu-1g', withGpu(['11800m', '80Gi', '1'], 3.67)],
    ['a3-highgpu-1g', withGpu(['25800m', '228Gi', '1'], 11.06)],
    ['a3-highgpu-8g', withGpu(['207', '1850Gi', '8'], 88.49)],
  ]),
  'sim-metal': new Map([
    [METAL_TYPE, core(['95', '370Gi'], 0, ['BareMetal'])],
    [RACK_TYPE, core(['95', '185Gi'], 4.28, ['Reserved'])],
  ]),
};

/** Of the price on demand. */
const PRICE_FACTOR: Readonly<Record<CapacityTypeName, number>> = {
  OnDemand: 1,
  Spot: 0.35,
  Reserved: 0.6,
  BareMetal: 1,
};

/** Machines of one rack; a cloud's holds the largest gang and spares. */
const RACK_SIZE: Readonly<Record<ProviderName, number>> = { 'sim-north': 12, 'sim-metal': 4 };
const METAL_PER_BUCKET: Readonly<Record<string, number>> = { [METAL_TYPE]: 12, [RACK_TYPE]: 8 };
/** A contract covers a part of what a region has. */
const RESERVED_PART = 3;

export interface Bucket extends MixBucket {
  readonly count: number;
}

/** Everything that a provider sells, for a profile's number of slots. */
export function bucketsOf(provider: ProviderName, slotsPerBucket: number): readonly Bucket[] {
  return [...shapesOf[provider]].flatMap(([instanceType, { capacityTypes }]) => {
    const zones = instanceType === METAL_TYPE ? [METAL_ZONE] : ZONES;
    return zones.flatMap((zone) =>
      capacityTypes.map((capacityType) => {
        const ofCloud =
          capacityType === 'Reserved' ? Math.ceil(slotsPerBucket / RESERVED_PART) : slotsPerBucket;
        const count = METAL_PER_BUCKET[instanceType] ?? ofCloud;
        return { instanceType, zone, capacityType, count };
      }),
    );
  });
}

const CAPACITY_NAMES: Readonly<Record<CapacityTypeName, string>> = {
  BareMetal: 'bare_metal',
  Reserved: 'reserved',
  OnDemand: 'on_demand',
  Spot: 'spot',
};

/** As an operator writes the file of a provider's quota: what `--offerings` reads. */
export function offeringsFile(provider: ProviderName, slotsPerBucket: number): string {
  const rows = bucketsOf(provider, slotsPerBucket).map(
    ({ instanceType, zone, capacityType, count }) => ({
      instance_type: instanceType,
      zone,
      capacity_type: CAPACITY_NAMES[capacityType],
      count,
      resources: { cpu: '1', memory: '2Gi' },
      labels: { [REGION_KEY]: regionOf(zone) },
    }),
  );
  return `${JSON.stringify(rows, undefined, 2)}\n`;
}

const shapes: ReadonlyMap<string, Shape> = new Map(
  Object.values(shapesOf).flatMap((ofProvider) => [...ofProvider]),
);

export const soldTypes: readonly string[] = [...shapes.keys()];

/** What a host gives to pods; undefined for a type that is not sold. */
export function allocatableOf(instanceType: string): ReadonlyMap<string, string> | undefined {
  const shape = shapes.get(instanceType);
  if (shape === undefined) return undefined;
  const { cpu, memory, gpu } = shape;
  const devices: readonly [string, string][] = gpu === undefined ? [] : [['nvidia.com/gpu', gpu]];
  return new Map([['cpu', cpu], ['memory', memory], ['pods', '110'], ...devices]);
}

/** On a quiet market. */
export function priceOf(offering: Offering): number | undefined {
  const { instanceType, capacityType, pricePerHour } = offering;
  const listed = shapes.get(instanceType)?.onDemandPerHour;
  if (pricePerHour !== undefined || listed === undefined) return pricePerHour;
  return rounded(listed * PRICE_FACTOR[capacityType]);
}

/** A hundredth of a cent is as fine as price lists are. */
export function rounded(dollars: number): number {
  return Math.round(dollars * 10_000) / 10_000;
}

/** Numbers the racks of a zone through all offerings, in their order. */
export function rackNames(
  provider: ProviderName,
  offerings: readonly Offering[],
): (offering: Offering, index: number) => string {
  const size = RACK_SIZE[provider];
  const firstRack = new Map<Offering, number>();
  const rackCounts = new Map<string, number>();
  for (const offering of offerings) {
    const before = rackCounts.get(offering.zone) ?? 0;
    firstRack.set(offering, before + 1);
    rackCounts.set(offering.zone, before + Math.ceil(offering.count / size));
  }
  const row = provider === 'sim-metal' ? 'm' : 'r';
  return (offering, index) => {
    const number = (firstRack.get(offering) ?? 0) + Math.floor(index / size);
    return `${offering.zone}-${row}${String(number).padStart(2, '0')}`;
  };
}
