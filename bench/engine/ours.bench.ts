// The shape that the papers promise: a full shard of half a million machines, 5,000 clusters.

import type { BenchEntry } from '../harness/index.ts';
import { fullBars, memoryBars, steadyBars } from './bars.ts';
import { fleetBenches } from './fleet-bench.ts';
import { CLUSTERS, growOurs, MACHINES, seedOurs } from './ours-fleet.ts';

const fleet = {
  machines: MACHINES,
  clusters: CLUSTERS,
  needs: { min: 83_000, max: 86_000 },
  gangs: 0,
  unsatisfied: 0,
};

const entries: readonly BenchEntry[] = fleetBenches({
  name: 'ours-500k-5k',
  seed: seedOurs,
  full: {
    shape: {
      ...fleet,
      configured: 442_500,
      configuring: 7_500,
      idle: 25_000,
      speculative: 25_000,
      actions: { min: 20_000, max: 40_000 },
    },
    iterations: 100,
    measuresMemory: true,
    recordRounds: 48,
    bars: { ...fullBars(75), ...memoryBars },
  },
  steady: {
    shape: { ...fleet, actions: 0 },
    iterations: 1_000,
    churn: () => ({ grow: growOurs }),
    recordRounds: 600,
    bars: steadyBars(8),
  },
});

export default entries;
