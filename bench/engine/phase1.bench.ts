// Gangs in front of pools: folding, domain choice, acquisition.

import type { BenchEntry } from '../harness/index.ts';
import { fleetBenches } from './fleet-bench.ts';
import { seedGangMix } from './gang-mix-fleet.ts';
import { GANG_INDEX, seedGangIndex, seedOneMachineGangs, seedUnitNeeds } from './phase1-fleets.ts';

const colocated = {
  machines: 18_000,
  clusters: 20,
  needs: 20 * 129,
  gangs: 20 * 127,
};

const GANGS = GANG_INDEX.clusters * GANG_INDEX.gangsPerCluster;

const entries: readonly BenchEntry[] = [
  ...fleetBenches({
    name: 'phase1/colocated-5k',
    seed: seedGangMix({
      clusters: 20,
      tinyPods: 17_500,
      servicePods: 3_000,
      cacheGangs: 95,
      trainingGangs: 32,
      configuredPerCluster: 250,
      idle: 1_000,
      speculative: 12_000,
      racksPerKind: 12,
      rackBlock: 8,
    }),
    full: {
      shape: {
        ...colocated,
        configured: 5_000,
        idle: 1_000,
        speculative: 12_000,
        actions: { min: 1_000 },
        unsatisfied: 0,
      },
      iterations: 100,
    },
    steady: { shape: { ...colocated, actions: 0, unsatisfied: 0 }, iterations: 1_000 },
  }),
  ...fleetBenches({
    name: 'phase1/gangs-50k',
    seed: seedOneMachineGangs(100_000, 20_000),
    full: {
      shape: {
        machines: 100_000,
        idle: 100_000,
        clusters: 20_000,
        needs: 20_000,
        gangs: 20_000,
        actions: 20_000,
        unsatisfied: 0,
      },
      iterations: 50,
    },
    steady: {
      shape: {
        machines: 100_000,
        configured: 20_000,
        clusters: 20_000,
        needs: 20_000,
        actions: 0,
        unsatisfied: 0,
      },
      iterations: 1_000,
    },
  }),
  ...[false, true].flatMap((isAllSame) =>
    fleetBenches({
      name: `phase1/realistic-50k${isAllSame ? '-all-same' : ''}`,
      seed: seedUnitNeeds(60_000, 1_000, isAllSame),
      full: {
        shape: {
          machines: 60_000,
          idle: 60_000,
          clusters: 50,
          needs: 50_000,
          gangs: isAllSame ? 50_000 : { min: 7_000, max: 8_000 },
          // Units of one size that fold share machines.
          actions: isAllSame ? { min: 25_000, max: 32_000 } : { min: 40_000, max: 50_000 },
        },
        iterations: 50,
      },
      steady: {
        shape: { machines: 60_000, clusters: 50, needs: 50_000, actions: 0 },
        iterations: 1_000,
      },
    }),
  ),
  ...fleetBenches({
    name: 'phase1/gang-index',
    seed: seedGangIndex,
    full: {
      shape: {
        machines: 12_000,
        speculative: 12_000,
        clusters: GANG_INDEX.clusters,
        needs: GANGS,
        gangs: GANGS,
        actions: GANGS * GANG_INDEX.machinesPerGang,
        unsatisfied: 0,
      },
      iterations: 100,
    },
    steady: {
      shape: {
        machines: 12_000,
        configured: GANGS * GANG_INDEX.machinesPerGang,
        needs: GANGS,
        actions: 0,
        unsatisfied: 0,
      },
      iterations: 1_000,
    },
  }),
];

export default entries;
