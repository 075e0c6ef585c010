// Demand as a production fleet emits it: one row per gang, nine in ten of them small enough to
// share a machine.

import type { BenchEntry } from '../harness/index.ts';
import { fullBars, steadyBars } from './bars.ts';
import { fleetBenches, type FleetShape } from './fleet-bench.ts';
import { changeRealistic, type RealisticSize, seedRealistic } from './realistic-fleet.ts';

interface Size extends RealisticSize {
  readonly label: string;
  readonly fullK: number;
  readonly steadyK: number;
  readonly fullIterations: number;
  readonly steadyIterations: number;
}

function realisticShape(size: Size): FleetShape {
  const { records, clusters } = size;
  const fleet = {
    machines: records,
    clusters,
    needs: { min: clusters * 129, max: clusters * 133 },
    gangs: { min: clusters * 120, max: clusters * 124 },
  };
  return {
    name: `realistic-${size.label}`,
    seed: seedRealistic(size),
    full: {
      shape: {
        ...fleet,
        configured: { min: clusters * 145, max: clusters * 155 },
        idle: { min: clusters * 28, max: clusters * 33 },
        actions: { min: clusters * 40, max: clusters * 80 },
        unsatisfied: 0,
      },
      warmup: size.fullIterations < 20 ? 2 : 5,
      iterations: size.fullIterations,
      measureAllocations: size.fullIterations >= 20,
      recordRounds: Math.ceil(size.fullIterations * 0.4),
      bars: fullBars(size.fullK),
    },
    steady: {
      shape: { ...fleet, actions: 0, unsatisfied: 0 },
      iterations: size.steadyIterations,
      churn: () => ({ change: changeRealistic }),
      recordRounds: Math.ceil(size.steadyIterations * 0.6),
      bars: steadyBars(size.steadyK),
    },
    nodeFlags: records > 1_000_000 ? ['--max-old-space-size=6144'] : [],
    timeoutMs: 1_200_000,
  };
}

const entries: readonly BenchEntry[] = [
  ...fleetBenches(
    realisticShape({
      label: '50k',
      records: 225_000,
      clusters: 200,
      fullK: 100,
      steadyK: 10,
      fullIterations: 100,
      steadyIterations: 1_000,
    }),
  ),
  ...fleetBenches(
    realisticShape({
      label: '500k',
      records: 2_200_000,
      clusters: 2_000,
      fullK: 1_500,
      steadyK: 50,
      fullIterations: 10,
      steadyIterations: 200,
    }),
  ),
];

export default entries;
