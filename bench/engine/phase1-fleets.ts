// Idle and Speculative pools in front of gangs: what acquisition and domain choice cost.

import { bucketOfDollars, ZERO_BUCKET } from '@bigfleet/base';
import { CapacityType, createProfile, Operator, State } from '@bigfleet/engine';
import { typeIn, ZONES } from './cycle-fleet.ts';
import { clusterNames, type Fleet, flat, RACK_KEY, type SeedFleet } from './fleet.ts';
import { resources, times } from './resources.ts';
import { addTier, unitRollup } from './uber-fleet.ts';

const SAME_RACK = { key: RACK_KEY, operator: Operator.Same, values: [] };
const DB_MACHINE = resources({ cpu: '4', memory: '32Gi' });

/** gangs-50k: 100,000 Idle in 8 racks, 20,000 clusters × one gang that one machine holds. */
export function seedOneMachineGangs(machines: number, clusters: number): SeedFleet {
  return (fleet) => {
    for (let at = 0; at < machines; at++) {
      const rack = at % 8;
      fleet.add({
        state: State.Idle,
        instanceType: 'r6i.2xlarge',
        zone: ZONES[rack % ZONES.length] as string,
        rack: `rack-${rack}`,
        allocatable: DB_MACHINE,
      });
    }
    const profile = createProfile({
      requirements: [typeIn('r6i.2xlarge'), SAME_RACK],
      spread: [],
      priority: 1_000,
      interruptionBucket: ZERO_BUCKET,
      reclamationBucket: ZERO_BUCKET,
    });
    return () => {
      for (const cluster of clusterNames(clusters)) {
        const need = { cluster, profile, aggregate: DB_MACHINE, minUnit: DB_MACHINE };
        fleet.demand(cluster, [{ ...need, group: flat('gang'), arrivalUnixNanos: 1n }]);
      }
    };
  };
}

/** realistic-50k of Phase 1: 60,000 Idle, 50 clusters × 1,000 rows that take a machine each. */
export function seedUnitNeeds(machines: number, rows: number, isAllGangs: boolean): SeedFleet {
  return (fleet, random) => {
    addTier(fleet, State.Idle, machines, undefined, 1);
    const rollup = unitRollup(rows, isAllGangs);
    const draw = random.stream('demand');
    return () => {
      for (const cluster of clusterNames(50)) fleet.demand(cluster, rollup(cluster, draw));
    };
  };
}

const GPU_MACHINE = resources({ cpu: '64', memory: '256Gi', 'nvidia.com/gpu': '8' });
export const GANG_INDEX: {
  readonly clusters: number;
  readonly gangsPerCluster: number;
  readonly machinesPerGang: number;
} = { clusters: 20, gangsPerCluster: 125, machinesPerGang: 4 };

/** gang-index: 12,000 Speculative in 30 racks; 2,500 gangs, each of which ranks every rack. */
export function seedGangIndex(fleet: Fleet): () => void {
  for (let at = 0; at < 12_000; at++) {
    const rack = at % 30;
    fleet.add({
      state: State.Speculative,
      instanceType: 'a3-highgpu-8g',
      zone: ZONES[rack % ZONES.length] as string,
      rack: `rack-${String(rack).padStart(2, '0')}`,
      allocatable: GPU_MACHINE,
      capacityType: CapacityType.OnDemand,
      pricePerHour: 1,
    });
  }
  const profile = createProfile({
    requirements: [typeIn('a3-highgpu-8g'), SAME_RACK],
    spread: [],
    priority: 1_000,
    interruptionBucket: bucketOfDollars(16_384),
    reclamationBucket: bucketOfDollars(32_768),
  });
  return () => {
    for (const cluster of clusterNames(GANG_INDEX.clusters)) {
      const needs = Array.from({ length: GANG_INDEX.gangsPerCluster }, (_, at) => ({
        cluster,
        profile,
        aggregate: times(GPU_MACHINE, GANG_INDEX.machinesPerGang),
        minUnit: GPU_MACHINE,
        group: flat(`gang-${at}`),
        arrivalUnixNanos: BigInt(1 + at),
      }));
      fleet.demand(cluster, needs);
    }
  };
}
