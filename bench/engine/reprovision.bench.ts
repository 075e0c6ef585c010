// Everything at once, as after a region is lost: 500,000 idle machines and demand for all of them.

import type { BenchEntry } from '../harness/index.ts';
import { addDemand, addIdleMachines, CLUSTERS, NEEDS_PER_CLUSTER } from './cycle-fleet.ts';
import { fleetBenches } from './fleet-bench.ts';

const MACHINES = 500_000;
const NEEDS = CLUSTERS * NEEDS_PER_CLUSTER;

const entries: readonly BenchEntry[] = fleetBenches({
  name: 'reprovision/500k',
  seed: (fleet) => {
    addIdleMachines(fleet, MACHINES);
    return () => addDemand(fleet, MACHINES / NEEDS);
  },
  full: {
    shape: {
      machines: MACHINES,
      idle: MACHINES,
      clusters: CLUSTERS,
      needs: NEEDS,
      actions: MACHINES,
      bootstraps: MACHINES,
      unsatisfied: 0,
    },
    iterations: 50,
    recordRounds: 10,
    extras: ({ engine }, { p50Ms }) => ({
      claimsPerSecond: (engine.actions.length * 1_000) / p50Ms,
    }),
    bars: { 'extra.claimsPerSecond': { min: 1_000_000 } },
  },
});

export default entries;
