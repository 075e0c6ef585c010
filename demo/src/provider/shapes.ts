// The machine types that the simulated provider sells, with honest sizes and prices: the types that
// the workload catalogue asks for, and some more for people, in its three zones. What is left out on purpose is one type that
// a demo workload wants, so that there is always one need that no money can buy. Bare metal stands in
// one zone only: whoever does not own that zone can't have it but by a transfer.

import type { CapacityTypeName, MixBucket, Offering } from '@bigfleet/providerkit';
import { METAL_TYPE, METAL_ZONE, ZONES } from '../places.ts';

interface Shape {
  readonly cpu: string;
  readonly memory: string;
  readonly gpu?: string;
  /** US dollars. */
  readonly onDemandPerHour: number;
  readonly hasSpot: boolean;
}

function core(cpu: string, memory: string, onDemandPerHour: number): Shape {
  return { cpu, memory, onDemandPerHour, hasSpot: true };
}

function withGpu(size: readonly [cpu: string, memory: string, gpu: string], price: number): Shape {
  const [cpu, memory, gpu] = size;
  return { cpu, memory, gpu, onDemandPerHour: price, hasSpot: false };
}

/** Sizes are about what is left for pods on real machines of these names. */
const shapes: ReadonlyMap<string, Shape> = new Map([
  ['m6i.large', core('1900m', '6Gi', 0.096)],
  ['m6i.xlarge', core('3800m', '14Gi', 0.192)],
  ['m6i.2xlarge', core('7600m', '29Gi', 0.384)],
  ['m7i.xlarge', core('3800m', '14Gi', 0.202)],
  ['m7i.2xlarge', core('7600m', '29Gi', 0.403)],
  ['c6i.4xlarge', core('15200m', '28Gi', 0.68)],
  ['c6i.8xlarge', core('30400m', '58Gi', 1.36)],
  ['n2-standard-32', core('30400m', '120Gi', 1.55)],
  ['r6i.xlarge', core('3800m', '29Gi', 0.252)],
  ['r6i.2xlarge', core('7600m', '60Gi', 0.504)],
  ['r6i.4xlarge', core('15200m', '122Gi', 1.008)],
  ['a2-highgpu-1g', withGpu(['11800m', '80Gi', '1'], 3.67)],
  ['a3-highgpu-1g', withGpu(['25800m', '228Gi', '1'], 11.06)],
  ['a3-highgpu-8g', withGpu(['207', '1850Gi', '8'], 88.49)],
  [METAL_TYPE, { cpu: '95', memory: '370Gi', onDemandPerHour: 0, hasSpot: false }],
]);

const SPOT_DISCOUNT = 0.65;

/** Slots of one bucket; they share a rack, which therefore holds the largest gang and spares. */
const SLOTS_PER_BUCKET = 12;

const metal: MixBucket = {
  instanceType: METAL_TYPE,
  zone: METAL_ZONE,
  capacityType: 'BareMetal',
};

export const mix: readonly MixBucket[] = [...shapes].flatMap(([instanceType, { hasSpot }]) => {
  if (instanceType === METAL_TYPE) return [metal];
  return ZONES.flatMap((zone) => {
    const capacityTypes: readonly CapacityTypeName[] = hasSpot
      ? ['OnDemand', 'Spot']
      : ['OnDemand'];
    return capacityTypes.map((capacityType) => ({ instanceType, zone, capacityType }));
  });
});

/** For `--seed-count`: every bucket gets the same share. */
export const slotCount: number = mix.length * SLOTS_PER_BUCKET;

export const soldTypes: readonly string[] = [...shapes.keys()];

/** What a host gives to pods; undefined for a type that is not sold. */
export function allocatableOf(instanceType: string): ReadonlyMap<string, string> | undefined {
  const shape = shapes.get(instanceType);
  if (shape === undefined) return undefined;
  const { cpu, memory, gpu } = shape;
  const devices: readonly [string, string][] = gpu === undefined ? [] : [['nvidia.com/gpu', gpu]];
  return new Map([['cpu', cpu], ['memory', memory], ['pods', '110'], ...devices]);
}

export function priceOf(offering: Offering): number | undefined {
  const { instanceType, capacityType, pricePerHour } = offering;
  const listed = shapes.get(instanceType)?.onDemandPerHour;
  if (pricePerHour !== undefined || listed === undefined) return pricePerHour;
  const factor = capacityType === 'Spot' ? 1 - SPOT_DISCOUNT : 1;
  return Math.round(listed * factor * 10_000) / 10_000;
}

/** All slots of one bucket stand in one rack. */
export function rackOf({ zone, instanceType, capacityType }: MixBucket): string {
  return `${zone}-${instanceType}-${capacityType}`;
}
