// Bound fleets: preemption of the wrong machines, reclaim of what nobody claims. No steady twins:
// a tenth of these clusters has fewer than 100 rows.

import type { BenchEntry } from '../harness/index.ts';
import {
  HIGH_DEMAND,
  INVERSIONS,
  seedHighDemand,
  seedInversions,
  seedSingleShape,
  SINGLE_SHAPE,
} from './bound-fleets.ts';
import { fleetBenches } from './fleet-bench.ts';

const entries: readonly BenchEntry[] = [
  ...fleetBenches({
    name: 'phase2/inversions',
    seed: seedInversions,
    full: {
      shape: {
        machines: 100_000,
        configured: 100_000,
        clusters: INVERSIONS.clusters + INVERSIONS.preemptors,
        needs: INVERSIONS.clusters * 5 + 100,
        actions: 500,
        preempts: 500,
        unsatisfied: 100,
      },
      iterations: 100,
    },
  }),
  ...fleetBenches({
    name: 'phase3/high-demand',
    seed: seedHighDemand,
    full: {
      shape: {
        machines: 500_000,
        configured: 500_000,
        clusters: HIGH_DEMAND.clusters,
        needs: HIGH_DEMAND.clusters * 3,
        actions: 5_000,
        reclaims: 5_000,
        unsatisfied: 0,
      },
      iterations: 100,
    },
  }),
  ...fleetBenches({
    name: 'phase3/single-shape',
    seed: seedSingleShape,
    full: {
      shape: {
        machines: 450_000,
        configured: 450_000,
        clusters: SINGLE_SHAPE.clusters,
        needs: SINGLE_SHAPE.clusters,
        actions: 0,
        unsatisfied: SINGLE_SHAPE.clusters,
      },
      iterations: 100,
    },
  }),
];

export default entries;
