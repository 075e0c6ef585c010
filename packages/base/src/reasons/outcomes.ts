// What became of an action (engine §15.4): outcomes of execution, reasons for not executing, and
// the operator's part of a drain. `no_session` occurs in two sets; the sets stay apart because
// they label different series.

/** Metric label `outcome`, and audit. */
export const executeOutcomes = {
  success: { meaning: 'The action was carried out.', action: 'Nothing.' },
  ctx_canceled: {
    meaning: 'The shard stopped, or the deadline passed, before the action ended.',
    action: 'Nothing if it is rare; otherwise look for a slow provider.',
  },
  fenced: {
    meaning: 'The provider has seen a newer token: another shard process acts for this id.',
    action: 'Make sure that only one process runs with this shard id.',
  },
  no_session: {
    meaning: 'The operator of the cluster is not connected.',
    action: 'Check that the operator runs and can reach the shard.',
  },
  transition_raced_to_idle: {
    meaning: 'The machine became idle before the action could start.',
    action: 'Nothing: the next cycle decides again.',
  },
  transition_error: {
    meaning: 'The machine was not in a state from which the action is legal.',
    action: 'Nothing if it is rare; otherwise report it with the log lines around it.',
  },
  blob_error: {
    meaning: 'The operator could not render the bootstrap data.',
    action: 'Read the error in the operator log and correct its bootstrap template.',
  },
  provider_error: {
    meaning: 'The provider refused or failed the call.',
    action: 'Read the log of the provider.',
  },
  stale_state: {
    meaning: 'The machine changed between decision and execution, so nothing was done.',
    action: 'Nothing: the next cycle decides again.',
  },
  inventory_miss: {
    meaning: 'The machine left the inventory between decision and execution.',
    action: 'Nothing if it is rare; otherwise check what the provider lists.',
  },
  missing_profile: {
    meaning: 'The need behind the action was gone when it was to be executed.',
    action: 'Nothing: the next cycle decides again.',
  },
  other: {
    meaning: 'The action failed in a way that has no code of its own.',
    action: 'Report it with the log lines around it.',
  },
} as const;

export type ExecuteOutcome = keyof typeof executeOutcomes;

/** Audit. */
export const skippedOutcomes = {
  suppressed: {
    meaning: 'Actuation is paused: the decision was recorded and not executed.',
    action: 'Resume actuation when the reason for the pause is gone.',
  },
  dryrun: {
    meaning: 'The shard runs dry: the decision was recorded and not executed.',
    action: 'Leave dry run when the recorded decisions look right.',
  },
} as const;

export type SkippedOutcome = keyof typeof skippedOutcomes;

/** Record and counters only. */
export const deferredOutcomes = {
  deferred_reclaim_cap: {
    meaning: 'The cluster reached its share of reclaims for this cycle.',
    action: 'Nothing: the rest follows in later cycles. The cap is the reclaim fraction.',
  },
  deferred_max_actions: {
    meaning: 'The cycle reached its limit of actions.',
    action: 'Nothing: the rest follows in later cycles.',
  },
  deduped_pending: {
    meaning: 'The same machine already has an action queued or in flight.',
    action: 'Nothing.',
  },
  deduped_state: {
    meaning: 'The machine is already where the action would take it.',
    action: 'Nothing.',
  },
  dropped_queue_full: {
    meaning: 'The execute queue was full; the decision is made again in a later cycle.',
    action: 'If it lasts, look for a slow provider or raise the number of workers.',
  },
} as const;

export type DeferredOutcome = keyof typeof deferredOutcomes;

/** `bigfleet_shard_drain_operator_outcomes_total{outcome}`. */
export const drainOperatorOutcomes = {
  empty: { meaning: 'The operator emptied the node within the grace.', action: 'Nothing.' },
  deadline: {
    meaning: 'The operator reported that pods remained when its deadline passed.',
    action: 'Look for disruption budgets that forbid eviction, or lengthen the grace.',
  },
  forbidden: {
    meaning: 'The API server forbade the operator to cordon or evict.',
    action: 'Grant the operator the permissions of its chart.',
  },
  node_not_found: {
    meaning: 'The operator knows no node for the machine.',
    action: 'Check that the bootstrap template sets the machine-id label on the node.',
  },
  grace_expired: {
    meaning: 'The operator had not answered when the grace expired.',
    action: 'Check that the operator runs and is not overloaded.',
  },
  not_negotiated: {
    meaning: 'The operator does not know cooperative drain; the provider was called at once.',
    action: 'Upgrade the operator to get evictions within policy.',
  },
  no_session: {
    meaning: 'The operator of the cluster was not connected.',
    action: 'Check that the operator runs and can reach the shard.',
  },
} as const;

export type DrainOperatorOutcome = keyof typeof drainOperatorOutcomes;
