// The messages that the wire benches move: a machine as a provider keeps it, a node update and a
// bootstrap answer of one size, and a roll-up of a large cluster. Drawn from a seed, so that both
// sides and every process build the same bytes. They are complete messages, not initialisers:
// building them is not part of what a transport costs.

import { createRandom, type Random } from '@bigfleet/base';
import {
  type CapacityNeedSchema,
  CapacityType,
  decode,
  encode,
  encodeInit,
  type Machine,
  MachineSchema,
  MachineState,
  Operator,
  type OperatorMessage,
  OperatorMessageSchema,
  PenaltyBucket,
  type ShardMessage,
  ShardMessageSchema,
  WhenUnsatisfiable,
} from '@bigfleet/wire';

const CLUSTER_ID = 'prod-eu-west-1-a';
/** Machines that the provider of wire/unary knows; more than an inline cache can learn by heart. */
export const MACHINE_COUNT = 256;
/** Distinct frames that a session of wire/bidi cycles through. */
export const FRAME_COUNT = 256;

const ZONES = ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'] as const;
const INSTANCE_TYPES = ['m7i.4xlarge', 'c7a.8xlarge', 'r7g.2xlarge', 'p5.48xlarge'] as const;
const BUCKETS = [
  PenaltyBucket.PENALTY_BUCKET_1,
  PenaltyBucket.PENALTY_BUCKET_64,
  PenaltyBucket.PENALTY_BUCKET_PINNED,
] as const;

export function machineId(index: number): string {
  return `aws/eu-west-1/slot-${String(index % MACHINE_COUNT).padStart(8, '0')}`;
}

export function createMachines(seed: number): ReadonlyMap<string, Machine> {
  const random = createRandom(BigInt(seed)).stream('machines');
  const machines = new Map<string, Machine>();
  for (let index = 0; index < MACHINE_COUNT; index++) {
    machines.set(machineId(index), createMachine(machineId(index), random));
  }
  return machines;
}

export function machineBytes(machine: Machine): number {
  return encode(MachineSchema, machine).length;
}

function createMachine(id: string, random: Random): Machine {
  const zone = pick(random, ZONES);
  const instanceType = pick(random, INSTANCE_TYPES);
  const resources = createResources(random);
  const bytes = encodeInit(MachineSchema, {
    id,
    state: MachineState.CONFIGURED,
    host: { provider: 'aws/eu-west-1', ref: `i-${hex(random, 17)}` },
    instanceType,
    zone,
    capacityType: CapacityType.ON_DEMAND,
    pricePerHour: 0.1 + random.float(),
    resources: { resources },
    labels: nodeLabels(zone, instanceType),
    allocatable: { resources: createResources(random) },
    cluster: CLUSTER_ID,
    shardMetadata: { 'need-digest': hex(random, 32), 'bound-cycle': String(random.uint32()) },
  });
  return decode(MachineSchema, bytes, 'INTERNAL');
}

/** One frame up and the key that its answer must carry. */
export interface Frame {
  readonly key: string;
  readonly message: OperatorMessage;
}

/** Small frames up: bootstrap answers as large as the node updates that come back. */
export function createBootstrapFrames(seed: number): readonly Frame[] {
  const random = createRandom(BigInt(seed)).stream('bootstrap');
  return Array.from({ length: FRAME_COUNT }, (_, index) => {
    const key = `machine/${machineId(index)}`;
    const userData = Uint8Array.from({ length: 480 }, () => random.below(256));
    const value = { requestId: key, userData, ttlSeconds: 3_600n };
    return { key, message: operatorMessage({ case: 'bootstrapResponse', value }) };
  });
}

/** What the shard answers to a bootstrap frame, by the key of the frame. */
export function createNodeUpdates(seed: number): ReadonlyMap<string, ShardMessage> {
  const updates = new Map<string, ShardMessage>();
  for (const machine of createMachines(seed).values()) {
    const key = `machine/${machine.id}`;
    updates.set(key, nodeUpdate(key, machine));
  }
  return updates;
}

function nodeUpdate(
  key: string,
  { id, zone, instanceType, labels, resources }: Machine,
): ShardMessage {
  const value = {
    supersedesKey: key,
    machineId: id,
    clusterId: CLUSTER_ID,
    state: MachineState.CONFIGURED,
    nodeName: `ip-10-0-${id.slice(-3)}.${zone}.compute.internal`,
    providerId: `aws:///${zone}/${instanceType}/${id}`,
    labels,
    ...(resources === undefined ? {} : { resources }),
    taints: [{ key: 'bigfleet.dev/not-ready', value: 'true', effect: 'NoSchedule' }],
  };
  const bytes = encodeInit(ShardMessageSchema, { payload: { case: 'nodeStateUpdate', value } });
  return decode(ShardMessageSchema, bytes, 'INTERNAL');
}

/** A whole cluster's demand; the acknowledgement must echo its cluster and its number of needs. */
export function createRollupFrame(seed: number, needCount: number): Frame {
  const random = createRandom(BigInt(seed)).stream('rollup');
  const needs = Array.from({ length: needCount }, () => createNeed(random));
  const value = { clusterId: CLUSTER_ID, timestampUnixNanos: 1_750_000_000_000_000_000n, needs };
  const message = operatorMessage({ case: 'rollup', value });
  return { key: rollupEcho(CLUSTER_ID, needCount), message };
}

export function rollupEcho(clusterId: string, needCount: number): string {
  return `rollup/${clusterId}/${needCount}`;
}

export function frameBytes({ message }: Frame): number {
  return encode(OperatorMessageSchema, message).length;
}

export function answerBytes(message: ShardMessage | undefined): number {
  return message === undefined ? 0 : encode(ShardMessageSchema, message).length;
}

type NeedInit = Parameters<typeof encodeInit<typeof CapacityNeedSchema>>[1];

function createNeed(random: Random): NeedInit {
  const [zone, type] = [pick(random, ZONES), pick(random, INSTANCE_TYPES)];
  return {
    requirements: [
      { key: 'topology.kubernetes.io/zone', operator: Operator.IN, values: [zone] },
      { key: 'node.kubernetes.io/instance-type', operator: Operator.IN, values: [type] },
    ],
    aggregateResources: createRequests(random, 1_000),
    minUnit: createRequests(random, 1),
    priority: random.below(1_000) * 1_000,
    spread: [
      {
        topologyKey: 'topology.kubernetes.io/zone',
        maxSkew: 1,
        whenUnsatisfiable: WhenUnsatisfiable.DO_NOT_SCHEDULE,
      },
    ],
    interruptionPenaltyBucket: pick(random, BUCKETS),
    reclamationPenaltyBucket: pick(random, BUCKETS),
  };
}

type OperatorPayload = NonNullable<
  Parameters<typeof encodeInit<typeof OperatorMessageSchema>>[1]['payload']
>;

function operatorMessage(payload: OperatorPayload): OperatorMessage {
  const bytes = encodeInit(OperatorMessageSchema, { payload });
  return decode(OperatorMessageSchema, bytes, 'INTERNAL');
}

function createRequests(random: Random, replicas: number): Record<string, string> {
  return {
    cpu: `${(100 + random.below(64) * 250) * replicas}m`,
    memory: `${(1 + random.below(256)) * replicas * 2 ** 20}`,
  };
}

function createResources(random: Random): Record<string, string> {
  return {
    cpu: String(2 ** (1 + random.below(7))),
    memory: `${2 ** (12 + random.below(8))}Mi`,
    'ephemeral-storage': `${100 + random.below(900)}Gi`,
    pods: '110',
  };
}

function nodeLabels(zone: string, instanceType: string): Record<string, string> {
  return {
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/os': 'linux',
    'topology.kubernetes.io/region': 'eu-west-1',
    'topology.kubernetes.io/zone': zone,
    'node.kubernetes.io/instance-type': instanceType,
    'karpenter.sh/capacity-type': 'on-demand',
  };
}

function pick<Value>(random: Random, values: readonly [Value, ...Value[]]): Value {
  return values[random.below(values.length)] ?? values[0];
}

function hex(random: Random, length: number): string {
  let text = '';
  while (text.length < length) text += random.uint32().toString(16).padStart(8, '0');
  return text.slice(0, length);
}
