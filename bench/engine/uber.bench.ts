// The first ladder's fleets: aggregated demand late in a ramp, and demand that nobody aggregated.

import type { BenchEntry } from '../harness/index.ts';
import { fleetBenches } from './fleet-bench.ts';
import { lateRollup, seedUber, UBER, unitRollup } from './uber-fleet.ts';

const fleet = {
  machines: UBER.clusters * UBER.configuredPerCluster + UBER.idle + UBER.speculative,
  configured: UBER.clusters * UBER.configuredPerCluster,
  idle: UBER.idle,
  speculative: UBER.speculative,
  clusters: UBER.clusters,
};

const entries: readonly BenchEntry[] = [
  // No steady twin: 100 rows do not exist in a tenth of the clusters.
  ...fleetBenches({
    name: 'uber-5k-late',
    seed: seedUber(lateRollup),
    full: {
      shape: { ...fleet, needs: UBER.clusters * UBER.lateRows, actions: { min: 500 } },
      iterations: 500,
    },
  }),
  ...fleetBenches({
    name: 'uber-5k-unaggregated',
    seed: seedUber(unitRollup(UBER.unaggregatedRows, false)),
    full: {
      shape: { ...fleet, needs: UBER.clusters * UBER.unaggregatedRows, actions: { min: 5_000 } },
      iterations: 20,
      warmup: 2,
      measureAllocations: false,
    },
    steady: {
      shape: { machines: fleet.machines, needs: UBER.clusters * UBER.unaggregatedRows, actions: 0 },
      iterations: 100,
      churn: () => ({ drainsAtOnce: true }),
    },
  }),
];

export default entries;
