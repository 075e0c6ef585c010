// Locked: who is preempted first. Reciprocal weights: a high penalty keeps a machine safe, a
// wide priority gap makes it a good victim. No flag and no chart value changes the weights;
// the override exists for simulation only.

export interface VictimWeights {
  readonly priority: number;
  readonly drain: number;
  readonly interruption: number;
  readonly reclamation: number;
}

export const DEFAULT_VICTIM_WEIGHTS: VictimWeights = {
  priority: 1,
  drain: 0.1,
  interruption: 0.1,
  reclamation: 0.1,
};

/** Nobody measures drains in advance: one estimate for every victim. */
export const ESTIMATED_DRAIN_SECONDS = 30;

export interface Victim {
  readonly priority: number;
  readonly interruptionPenaltyDollars: number;
  readonly reclamationPenaltyDollars: number;
}

/** Floors keep every term finite; an infinite penalty contributes nothing. */
export function victimScore(
  preemptorPriority: number,
  victim: Victim,
  weights: VictimWeights = DEFAULT_VICTIM_WEIGHTS,
  drainSeconds: number = ESTIMATED_DRAIN_SECONDS,
): number {
  const gap = Math.max(0, preemptorPriority - victim.priority);
  return (
    gap * weights.priority +
    (1 / Math.max(1, drainSeconds)) * weights.drain +
    (1 / Math.max(0.01, victim.interruptionPenaltyDollars)) * weights.interruption +
    (1 / Math.max(0.01, victim.reclamationPenaltyDollars)) * weights.reclamation
  );
}
