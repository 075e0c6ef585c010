// Why a Need is unmet: `NeedView.reason_code`, `Shortfall.reason_code` (engine §15.2). The order
// of the table is the order of precedence: the first code that applies is the answer.

import type { ReasonEntry } from './entry.ts';

/** The established wire enum beside the code, by the name of its value without prefix. */
export type UnmetReasonName =
  | 'UNSPECIFIED'
  | 'NO_MATCHING_SUPPLY'
  | 'PRIORITY_STARVED'
  | 'TOPOLOGY_UNSATISFIABLE'
  | 'PREEMPTION_EXHAUSTED';

export interface UnmetReasonEntry extends ReasonEntry {
  /** The enum value that normally accompanies the code; the engine derives it on its own. */
  readonly unmetReason: UnmetReasonName;
}

export type UnmetCode =
  | 'satisfied'
  | 'awaiting_drain'
  | 'acquisition_parked'
  | 'topology_unsatisfiable'
  | 'no_matching_supply'
  | 'min_unit_too_large'
  | 'no_stable_supply'
  | 'bootstrap_refused'
  | 'quota_exhausted'
  | 'spread_unsatisfiable'
  | 'preemption_exhausted'
  | 'priority_starved'
  | 'configure_failing'
  | 'type_failing';

export const unmetReasons: Readonly<Record<UnmetCode, UnmetReasonEntry>> = {
  satisfied: {
    unmetReason: 'UNSPECIFIED',
    meaning: 'The need is covered.',
    action: 'Nothing.',
  },
  awaiting_drain: {
    unmetReason: 'PRIORITY_STARVED',
    meaning: 'Machines that are already draining will cover the rest; this is no shortfall.',
    action: 'Wait for the drains. If they hang, look at the evictions in the victim clusters.',
  },
  acquisition_parked: {
    unmetReason: 'TOPOLOGY_UNSATISFIABLE',
    meaning: 'The gang found no domain for 8 cycles and is parked so that others can acquire.',
    action: 'Add capacity to one domain, or let the workload span several.',
  },
  topology_unsatisfiable: {
    unmetReason: 'TOPOLOGY_UNSATISFIABLE',
    meaning: 'No single domain can hold the whole gang, or no domain exists.',
    action: 'Add capacity to one domain, or let the workload span several.',
  },
  no_matching_supply: {
    unmetReason: 'NO_MATCHING_SUPPLY',
    meaning: 'No machine in any state matches the requirements.',
    action: 'Check the requirements for a typing error, or offer such machines at a provider.',
  },
  min_unit_too_large: {
    unmetReason: 'PRIORITY_STARVED',
    meaning: 'Machines of matching shape exist, but none is large enough for one unit.',
    action: 'Offer a larger instance type, or make the pod smaller.',
  },
  no_stable_supply: {
    unmetReason: 'PRIORITY_STARVED',
    meaning: 'The need is pinned and every machine that could host it may be interrupted.',
    action: 'Offer capacity without interruption risk, or lower the interruption penalty.',
  },
  bootstrap_refused: {
    unmetReason: 'PRIORITY_STARVED',
    meaning: 'The operator of the cluster answered the bootstrap request with an error.',
    action: 'Read the error in the operator log and correct its bootstrap template.',
  },
  quota_exhausted: {
    unmetReason: 'PRIORITY_STARVED',
    meaning: 'Only machines that do not exist yet would fit, and the quota slice is used up.',
    action: 'Raise the quota at the provider and in its registration.',
  },
  spread_unsatisfiable: {
    unmetReason: 'PRIORITY_STARVED',
    meaning: 'Usable machines exist, but taking them would exceed the allowed skew.',
    action: 'Add capacity to the domains that lag behind, or relax the spread constraint.',
  },
  preemption_exhausted: {
    unmetReason: 'PREEMPTION_EXHAUSTED',
    meaning: 'Preempting lower priorities freed something, but not enough.',
    action: 'Add capacity, or raise the priority if the need deserves it.',
  },
  priority_starved: {
    unmetReason: 'PRIORITY_STARVED',
    meaning: 'Matching machines exist; all are held by needs of equal or higher precedence.',
    action: 'Add capacity, or raise the priority if the need deserves it.',
  },
  configure_failing: {
    unmetReason: 'PRIORITY_STARVED',
    meaning:
      'Configures for this need fail in a row: it gets no further machine before one joins or its ' +
      'pause is over, with one probe per pause.',
    action:
      'Find out why its nodes never join (image, bootstrap template, network), mend it, then wait ' +
      'for the next probe or run bigfleetctl brakes clear.',
  },
  type_failing: {
    unmetReason: 'PRIORITY_STARVED',
    meaning:
      'Only machines that do not exist yet would fit, and Configures of their instance type fail ' +
      'in several clusters: purchases of that type pause, with one probe per pause.',
    action:
      'Check the image and the quota of that instance type at its provider, then wait for the ' +
      'next probe or run bigfleetctl brakes clear.',
  },
};
