// Ways to be wrong on purpose: a suite that cannot fail proves nothing. Each stands for a mistake that
// this system must not make, and mutants.test.ts expects the seeds to find it.

/**
 * - `early-ack`: the store says durable before it is, and a crash forgets.
 * - `same-epoch`: a restarted shard keeps the epoch of its predecessor.
 * - `sticky-drain`: a drain that leaves the node in its cluster.
 * - `rash-shard`: a restarted shard takes silence for a roll-up without needs.
 * - `deaf-shard`: a shard that takes each second roll-up for one without needs.
 * - `half-paused`: a pause that stops what is decided next, and lets what is under way go on.
 * - `second-writer`: the substrate's host is bought again although one runs.
 */
export const MUTANTS = [
  'early-ack',
  'same-epoch',
  'sticky-drain',
  'rash-shard',
  'deaf-shard',
  'half-paused',
  'second-writer',
] as const;

export type Mutant = (typeof MUTANTS)[number];
