// The workloads of the closed-loop tests: shapes of the realistic catalogue, each on one instance
// type of its own, so that the machines of one never serve another and counts can be exact.

import {
  cpuService,
  gpuTrainingSmall,
  memoryCache,
  tinyStateless,
} from '../catalogue/realistic.ts';
import { type Shape, shapeOf } from './shape.ts';

/** Small Pods, batch priority. */
export const tiny: Shape = { ...shapeOf(tinyStateless), instanceTypes: ['m6i.large'] };

export const service: Shape = { ...shapeOf(cpuService), instanceTypes: ['m6i.2xlarge'] };

/** A Pod fills a machine, and a gang stays in one rack. */
export const gpuGang: Shape = shapeOf(gpuTrainingSmall);

/** Several Pods share a machine, and a gang stays in one rack. */
export const cacheGang: Shape = { ...shapeOf(memoryCache), instanceTypes: ['r6i.xlarge'] };
