// The word lists of the API, apart from its schema: views and pages must not carry that along.

/** In the order of a machine's life; a state's number on the wire is its place plus one. */
export const STATE_NAMES = [
  'Speculative',
  'Creating',
  'Idle',
  'Configuring',
  'Configured',
  'Draining',
  'Deleting',
  'Failed',
] as const;
export type StateName = (typeof STATE_NAMES)[number];

export const CAPACITY_NAMES = ['BareMetal', 'Reserved', 'OnDemand', 'Spot'] as const;
export type CapacityName = (typeof CAPACITY_NAMES)[number];

export const KIND_NAMES = ['Bootstrap', 'Provision', 'Reclaim', 'Preempt', 'Delete'] as const;
export type KindName = (typeof KIND_NAMES)[number];

export const TIER_NAMES = ['critical', 'service', 'batch'] as const;
export type TierName = (typeof TIER_NAMES)[number];

/** Rows sent to a browser are bounded, and an answer always says how many exist. */
export const ROW_LIMIT = 5_000;
/** One cell per machine up to here; above, groups alone. */
export const CELL_LIMIT = 20_000;
