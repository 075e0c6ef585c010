// The word lists of the API, apart from its schema: views and pages must not carry that along, nor the engine,
// whose names these are: only its types stand here, and a test compares the lists number by number.

import type { PriorityClass } from '@bigfleet/base';
import type { ActionKind, CapacityType, State } from '@bigfleet/engine';

export type StateName = Exclude<keyof typeof State, 'Unspecified'>;
export type CapacityName = keyof typeof CapacityType;
export type KindName = keyof typeof ActionKind;
export type TierName = PriorityClass;

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
] as const satisfies readonly StateName[];

export const CAPACITY_NAMES = [
  'BareMetal',
  'Reserved',
  'OnDemand',
  'Spot',
] as const satisfies readonly CapacityName[];

export const KIND_NAMES = [
  'Bootstrap',
  'Provision',
  'Reclaim',
  'Preempt',
  'Delete',
] as const satisfies readonly KindName[];

export const TIER_NAMES = ['critical', 'service', 'batch'] as const satisfies readonly TierName[];

/** Rows sent to a browser are bounded, and an answer always says how many exist. */
export const ROW_LIMIT = 5_000;
/** One cell per machine up to here; above, groups alone. */
export const CELL_LIMIT = 20_000;
