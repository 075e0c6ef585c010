// Worlds that are wrong on purpose, each with its repaired twin. A canary must show its pathology:
// if it stops doing so, the loop no longer sees the failure that the repair exists for. Goldens
// freeze the twins.

import { memoryCache, tinyStateless } from '../catalogue/realistic.ts';
import { equalClusters, type LoopPlan } from './closed-loop.ts';
import { type Shape, shapeOf } from './shape.ts';

const tiny: Shape = { ...shapeOf(tinyStateless), instanceTypes: ['m6i.large'] };
const gang: Shape = { ...shapeOf(memoryCache), instanceTypes: ['r6i.xlarge'] };

const DENSITY = 10;
const PODS = 200;
export const BARE_PODS_SURPLUS_MACHINES = 3;

/** ADR-0038: three machines too many, and Pods that nobody recreates. */
export const barePods: LoopPlan = {
  name: 'bare-pods',
  hasControllers: false,
  clusters: equalClusters(2, [{ shape: tiny, objects: 1, replicas: PODS }]),
  seeds: [
    {
      shape: tiny,
      density: DENSITY,
      configuredPerCluster: PODS / DENSITY + BARE_PODS_SURPLUS_MACHINES,
      speculative: [{ count: 10 }],
    },
  ],
};
export const BARE_PODS_CYCLES = 80;

export const controlledPods: LoopPlan = {
  ...barePods,
  name: 'bare-pods-twin',
  hasControllers: true,
};

/** ADR-0039: a Pod stops being demand when it is bound, so its machine looks like surplus. */
export const unmetOnlyRequests: LoopPlan = {
  name: 'unmet-only-requests',
  requestsFor: 'pending-pods',
  clusters: equalClusters(2, [{ shape: tiny, objects: 1, replicas: PODS }]),
  seeds: [
    {
      shape: tiny,
      density: DENSITY,
      configuredPerCluster: PODS / DENSITY - 1,
      idle: [{ count: 1 }],
      speculative: [{ count: 10 }],
    },
  ],
};
export const UNMET_ONLY_CYCLES = 120;

export const requestPerPod: LoopPlan = {
  ...unmetOnlyRequests,
  name: 'unmet-only-requests-twin',
  requestsFor: 'every-pod',
};

/** More demand than all tiers together, of plain workloads and of gangs. */
export const supplyExhaustion: LoopPlan = {
  name: 'supply-exhaustion',
  rollupArrivalStamps: true,
  clusters: equalClusters(3, [
    { shape: tiny, objects: 1, replicas: PODS },
    { shape: gang, objects: 2, replicas: 4 },
  ]),
  seeds: [
    {
      shape: tiny,
      density: DENSITY,
      configuredPerCluster: 5,
      idle: [{ count: 10 }],
      speculative: [{ count: 20 }],
    },
    // One Pod fills a machine, so that gangs span machines.
    {
      shape: gang,
      density: 1,
      contiguousRackBlock: 4,
      idle: [{ count: 8 }],
      speculative: [{ count: 8 }],
    },
  ],
};
export const SUPPLY_EXHAUSTION_CYCLES = 150;
