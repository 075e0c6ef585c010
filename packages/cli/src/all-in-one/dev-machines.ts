// The machines of `bigfleet all-in-one`: enough of two kinds to see a need served, in one zone.

import { CapacityType } from '@bigfleet/engine';
import type { FakeSettings } from '@bigfleet/shard';

type DevMachine = NonNullable<FakeSettings['machines']>[number];

const COUNT_OF_EACH = 8;
const ZONE = 'dev-zone-a';

export const devMachines: readonly DevMachine[] = [
  ...named('dev-gpu', {
    instanceType: 'a3-highgpu-8g',
    capacityType: CapacityType.BareMetal,
    pricePerHour: 0,
    resources: new Map([['nvidia.com/gpu', '8']]),
  }),
  ...named('dev-cpu', {
    instanceType: 'm6i.large',
    capacityType: CapacityType.OnDemand,
    pricePerHour: 0.1,
    resources: new Map([
      ['cpu', '2'],
      ['memory', '8Gi'],
    ]),
  }),
];

type Kind = Pick<DevMachine, 'instanceType' | 'capacityType' | 'pricePerHour' | 'resources'>;

function named(prefix: string, kind: Kind): readonly DevMachine[] {
  return Array.from({ length: COUNT_OF_EACH }, (_, at) => ({
    ...kind,
    id: `${prefix}-${at}`,
    zone: ZONE,
    interruptionProbability: 0,
    allocatable: kind.resources,
    labels: new Map(),
  }));
}
