// Where a crash can fall in one calm life: its steps up to the end of the storm, and one process of
// each kind.

import { runSeed } from './run-seed.ts';
import { SHARD_HOST } from './shard-process.ts';

export interface CrashPoints {
  readonly hosts: readonly string[];
  readonly stepCount: number;
}

export async function crashPoints(seed: string): Promise<CrashPoints> {
  const { stormStepCount } = await runSeed({ seed, isPlain: true, strikes: [] });
  return { hosts: [SHARD_HOST, 'p0', 'c0'], stepCount: stormStepCount };
}
