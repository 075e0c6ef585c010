// A full List of a large fleet as bytes: cloud machines of a dozen types in nine zones, most of
// them bound, with the shard's own metadata; drawn from a seed. Encoded by the generated code in
// slices, because the whole fleet as objects would not leave room for what is measured.

import { createRandom, type Random } from '@bigfleet/base';
import { encodeInit, MachineListSchema } from '@bigfleet/wire';

const SLICE = 5_000;
const TYPES = ['m5', 'm6i', 'c6i', 'r6i'].flatMap((family) =>
  ['large', 'xlarge', '4xlarge'].map((size) => `${family}.${size}`),
);
const ZONES = ['eu-west-1', 'us-east-1', 'ap-south-1'].flatMap((region) =>
  ['a', 'b', 'c'].map((zone) => `${region}${zone}`),
);
const CLUSTER_COUNT = 200;
const NEED_COUNT = 5_000;
const RACKS_PER_ZONE = 40;

type ListInit = Parameters<typeof encodeInit<typeof MachineListSchema>>[1];
type MachineInit = NonNullable<ListInit['machines']>[number];

export function fleetBytes(seed: number, machineCount: number): Uint8Array {
  const random = createRandom(BigInt(seed)).stream('list');
  const slices: Uint8Array[] = [];
  for (let from = 0; from < machineCount; from += SLICE) {
    const count = Math.min(SLICE, machineCount - from);
    const machines = Array.from({ length: count }, (_, at) => machine(random, from + at));
    slices.push(encodeInit(MachineListSchema, { machines }));
  }
  const revision = Uint8Array.from({ length: 24 }, (_, at) => at);
  slices.push(encodeInit(MachineListSchema, { revision }));
  return Buffer.concat(slices);
}

function machine(random: Random, index: number): MachineInit {
  const typeIndex = random.below(TYPES.length);
  const instanceType = TYPES[typeIndex] ?? '';
  const zone = ZONES[random.below(ZONES.length)] ?? '';
  const isSpot = random.below(4) === 0;
  const cores = 2 << (typeIndex % 3);
  const draw = random.below(10);
  const isBound = draw < 6;
  const isSpeculative = draw === 9;
  const capacity = isSpot ? 'Spot' : 'OnDemand';
  return {
    id: `aws-${zone.slice(0, -1)}/${capacity}/${instanceType}/${zone}/${String(index).padStart(6, '0')}`,
    state: isBound ? 5 : isSpeculative ? 1 : 3,
    ...(isSpeculative
      ? {}
      : { host: { provider: `aws-${zone.slice(0, -1)}`, ref: hostRef(random) } }),
    instanceType,
    zone,
    capacityType: isSpot ? 4 : 3,
    pricePerHour: cores * (isSpot ? 0.015 : 0.048),
    interruptionProbability: isSpot ? 0.0001 * (1 + (typeIndex % 5)) : 0,
    resources: { resources: { cpu: String(cores), memory: `${cores * 4}Gi` } },
    allocatable: {
      resources: { cpu: `${cores * 1000 - 200}m`, memory: `${cores * 3900}Mi`, pods: '110' },
    },
    labels: {
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/os': 'linux',
      'topology.bigfleet.lucy.sh/rack': `${zone}-${random.below(RACKS_PER_ZONE)}`,
    },
    ...(isBound ? binding(random) : {}),
  };
}

function hostRef(random: Random): string {
  const hex = (): string => random.uint32().toString(16).padStart(8, '0');
  return `i-0${hex()}${hex()}`;
}

function binding(random: Random): Pick<MachineInit, 'cluster' | 'shardMetadata'> {
  const need = random.below(NEED_COUNT);
  return {
    cluster: `cluster-${need % CLUSTER_COUNT}`,
    shardMetadata: {
      'bigfleet.lucy.sh/assigned-priority': String((need % 10) * 100),
      'bigfleet.lucy.sh/assigned-interruption-penalty-dollars': String(need % 7),
      'bigfleet.lucy.sh/assigned-reclamation-penalty-dollars': '0.5',
      'bigfleet.lucy.sh/assigned-need-fingerprint': need.toString(16).padStart(32, '0'),
      'bigfleet.lucy.sh/assigned-group': need % 3 === 0 ? `gang-${need}` : '',
    },
  };
}
