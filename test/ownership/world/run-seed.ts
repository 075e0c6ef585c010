// One seed of the model check. The same seed gives the same history.

import type { Tally } from './tally.ts';
import { World, type WorldOptions } from './world.ts';

/** Rejects with the first broken law. */
export async function runSeed(options: WorldOptions): Promise<Tally> {
  const world = new World(options);
  await world.run();
  return world.tally;
}
