// The seeds of the simulator's runs. A run prints its seed and every failure names it, so that
// one number replays any failure on any machine.

import { createRandom, type Random } from '@bigfleet/base';

/** Scripted scenarios and closed loops. */
export const SCENARIO_SEED = 0xc0ffeen;
export const SOAK_SEED = 0xcafebaben;

const SECOND_WORD_MASK = 0x55aa55aan;

export function printSeed(seed: bigint): string {
  return `seed 0x${seed.toString(16).toUpperCase()}`;
}

/** Two words, as soaks are seeded: the seed and its mask. */
export function soakRandom(seed: bigint): Random {
  return createRandom((seed << 32n) | (seed ^ SECOND_WORD_MASK));
}

/** In place, every order equally likely. */
export function shuffle<T>(random: Random, list: T[]): T[] {
  for (let at = list.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    const kept = list[at] as T;
    list[at] = list[other] as T;
    list[other] = kept;
  }
  return list;
}
