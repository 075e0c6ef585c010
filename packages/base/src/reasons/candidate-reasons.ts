// Why a candidate lost: the first losing reason of each machine that was considered and not used
// (engine §15.3). Recorded in the loop where it happens, never reconstructed later.

export const candidateReasons = {
  requirement_mismatch: {
    meaning: 'The profile does not match the class of the machine.',
    action: 'If it should match, compare the requirements with the labels of the machine.',
  },
  min_unit_too_small: {
    meaning: 'The machine cannot host one unit alone.',
    action: 'Offer a larger instance type, or make the pod smaller.',
  },
  no_contribution: {
    meaning: 'The machine provides nothing that the need still lacks.',
    action: 'Nothing.',
  },
  wrong_domain: {
    meaning: 'The machine is outside the domain chosen for the gang.',
    action: 'Nothing.',
  },
  spread_skew: {
    meaning: 'Taking the machine would exceed the maximum skew.',
    action: 'Add capacity to the domains that lag behind, or relax the spread constraint.',
  },
  claimed_higher_precedence: {
    meaning: 'A need of higher precedence took the machine first.',
    action: 'Nothing: this is what priority means.',
  },
  claimed_equal_precedence: {
    meaning: 'A need of equal precedence that comes earlier in the order took the machine.',
    action: 'Nothing. Raise the priority if this need should come first.',
  },
  infinite_cost: {
    meaning: 'The need is pinned and the machine may be interrupted.',
    action: 'Offer capacity without interruption risk, or lower the interruption penalty.',
  },
  interruption_risk: {
    meaning: 'Idle but risky: cheaper capacity with less risk can be created and covered it.',
    action: 'Nothing.',
  },
  costlier: {
    meaning: 'Usable, but machines of lower effective cost covered the need.',
    action: 'Nothing.',
  },
  idle_preferred: {
    meaning: 'The machine does not exist yet, and idle ones covered the need.',
    action: 'Nothing.',
  },
  not_acquirable_state: {
    meaning: 'The machine is in transition, failed, or bound elsewhere.',
    action: 'Nothing. If it has failed, see its last error.',
  },
  action_pending: {
    meaning: 'An action for the machine is queued or in flight.',
    action: 'Nothing: it is considered again when the action has ended.',
  },
  quota_exhausted: {
    meaning: 'Creating the machine would exceed the quota slice of this shard.',
    action: 'Raise the quota at the provider and in its registration.',
  },
  transfer_frozen: {
    meaning: 'The machine is frozen while it moves to another shard.',
    action: 'Nothing. If the transfer hangs, look it up in the coordinator.',
  },
  transfer_reserved: {
    meaning: 'The machine is reserved for the need that its transfer serves.',
    action: 'Nothing.',
  },
  not_owned: {
    meaning: 'Another shard owns the machine.',
    action: 'Nothing.',
  },
  victim_priority_not_lower: {
    meaning: 'What runs on the machine does not have strictly lower priority.',
    action: 'Nothing: this is what priority means.',
  },
  victim_claimed_higher: {
    meaning: 'A need of equal or higher priority claims the machine in this cycle.',
    action: 'Nothing.',
  },
  victim_own_cluster: {
    meaning: 'A need of the same cluster claims the machine: draining it would only move the gap.',
    action: 'Nothing.',
  },
  victim_not_configured: {
    meaning: 'Only configured machines can be preempted; this one is in another state.',
    action: 'Nothing.',
  },
  victim_taken: {
    meaning: 'The machine was already picked in this pass.',
    action: 'Nothing.',
  },
  victim_score_lower: {
    meaning: 'Eligible, but better victims covered the need.',
    action: 'Nothing.',
  },
  preemptor_parked: {
    meaning: 'The need is parked and may not preempt.',
    action: 'Add capacity to one domain, or let the workload span several.',
  },
  preemptor_no_domain: {
    meaning: 'The gang has no domain that could hold it, so it may not preempt.',
    action: 'Add capacity to one domain, or let the workload span several.',
  },
  kept_claimed: {
    meaning: 'The machine stays: a need claims it.',
    action: 'Nothing.',
  },
  first_rollup_missing: {
    meaning: 'The machine stays: its cluster has not been heard since this shard started.',
    action: 'If it lasts, check that the operator of the cluster runs and can connect.',
  },
  hold_not_expired: {
    meaning: 'The idle machine stays until its hold time is over.',
    action: 'Nothing.',
  },
  hold_forever: {
    meaning: 'Idle machines of this kind are never released.',
    action: 'Nothing. Change the hold setting if they should be.',
  },
  configure_failing: {
    meaning: 'Usable, but Configures for this need fail in a row and its probes are used up.',
    action: 'Find out why its nodes never join, or run bigfleetctl brakes clear.',
  },
  type_failing: {
    meaning: 'Configures of the instance type fail in several clusters: purchases of it pause.',
    action: 'Check the type at its provider, or run bigfleetctl brakes clear.',
  },
} as const;

export type CandidateReason = keyof typeof candidateReasons;
