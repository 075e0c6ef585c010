// The cycle over idle fleets of every size, and over the local-5k profile.

import { type BenchEntry, defineRatio } from '../harness/index.ts';
import { fullBars, memoryBars, quietBars, steadyBars } from './bars.ts';
import {
  addDemand,
  addIdleMachines,
  CLUSTERS,
  growToTwo,
  NEEDS_PER_CLUSTER,
} from './cycle-fleet.ts';
import { type FleetShape, fleetBenches } from './fleet-bench.ts';
import { seedGangMix } from './gang-mix-fleet.ts';
import { LOCAL_5K } from './local-5k.ts';

const NEEDS = CLUSTERS * NEEDS_PER_CLUSTER;

interface Size {
  readonly label: string;
  readonly machines: number;
  readonly fullIterations: number;
  readonly steadyIterations: number;
}

/** The two smallest leave 40,000 needs and more short, every cycle: slow, so fewer of them. */
const sizes: readonly Size[] = [
  { label: '1k', machines: 1_000, fullIterations: 50, steadyIterations: 200 },
  { label: '10k', machines: 10_000, fullIterations: 50, steadyIterations: 200 },
  { label: '50k', machines: 50_000, fullIterations: 100, steadyIterations: 1_000 },
  { label: '100k', machines: 100_000, fullIterations: 100, steadyIterations: 1_000 },
  { label: '500k', machines: 500_000, fullIterations: 100, steadyIterations: 1_000 },
  { label: '5m', machines: 5_000_000, fullIterations: 30, steadyIterations: 300 },
];

function steadyShape({ label, machines, fullIterations, steadyIterations }: Size): FleetShape {
  const served = Math.min(machines, NEEDS);
  const fleet = { machines, clusters: CLUSTERS, needs: NEEDS, gangs: 0 };
  const isBarred = label === '500k';
  const isMet = machines >= NEEDS;
  return {
    name: `cycle/steady/${label}`,
    seed: (target) => {
      addIdleMachines(target, machines);
      return () => addDemand(target, 1);
    },
    full: {
      shape: {
        ...fleet,
        idle: machines,
        actions: served,
        bootstraps: served,
        unsatisfied: NEEDS - served,
      },
      iterations: fullIterations,
      measureAllocations: machines <= 1_000_000,
      measuresMemory: isBarred,
      ...(isBarred ? { recordRounds: 48, bars: { ...fullBars(60), ...memoryBars } } : {}),
    },
    steady: {
      shape: { ...fleet, configured: served, actions: 0, unsatisfied: NEEDS - served },
      iterations: steadyIterations,
      // Where every machine is bound, a row cannot grow.
      churn: () => (machines > NEEDS ? { grow: growToTwo } : { drainsAtOnce: true }),
      ...(isBarred ? { recordRounds: 600, bars: steadyBars(5) } : { bars: isMet ? quietBars : {} }),
    },
    nodeFlags: machines > 1_000_000 ? ['--max-old-space-size=6144'] : [],
  };
}

/** Its bars are the founding documents', in milliseconds. */
const localNeeds = LOCAL_5K.clusters * (2 + LOCAL_5K.cacheGangs + LOCAL_5K.trainingGangs);

const local5k: FleetShape = {
  name: 'cycle/local-5k',
  seed: seedGangMix(LOCAL_5K),
  full: {
    shape: {
      machines: 5_000,
      configured: 3_600,
      idle: 400,
      speculative: 1_000,
      clusters: 20,
      needs: localNeeds,
      actions: { min: 1 },
      unsatisfied: 0,
    },
    iterations: 300,
    bars: { p95Ms: { max: 50 }, p99Ms: { max: 100 } },
  },
  steady: {
    shape: { machines: 5_000, clusters: 20, needs: localNeeds, actions: 0, unsatisfied: 0 },
    iterations: 1_000,
  },
};

const entries: readonly BenchEntry[] = [
  ...sizes.flatMap((size) => fleetBenches(steadyShape(size))),
  ...fleetBenches(local5k),
  defineRatio({
    of: 'engine/cycle/steady/5m/steady',
    over: 'engine/cycle/steady/50k/steady',
    metric: 'p50Ms',
    as: 'growth',
    bar: { max: 1.5 },
  }),
];

export default entries;
