// What stands for each state, capacity type, action and tier: a colour of tokens.css, always doubled by a
// shape and a word, so that nobody has to tell two hues apart.

import type { CapacityName, KindName, StateName, TierName } from '../../../src/words.ts';

/** Paths in a box of 12 × 12. `line` is drawn, `solid` is filled. */
export interface Shape {
  readonly solid?: string;
  readonly line?: string;
}

export interface Look {
  /** Name of the custom property. */
  readonly token: string;
  readonly label: string;
  readonly shape: Shape;
}

const DISC = 'M6 1.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9Z';
const DOT = 'M6 4a2 2 0 1 1 0 4a2 2 0 1 1 0-4Z';
const RING = 'M6 1.75a4.25 4.25 0 1 1 0 8.5a4.25 4.25 0 1 1 0-8.5Z';
const DASHED =
  'M6 1.75a4.25 4.25 0 0 1 3 1.25M10.25 6a4.25 4.25 0 0 1-1.25 3M6 10.25a4.25 4.25 0 0 1-3-1.25M1.75 6a4.25 4.25 0 0 1 1.25-3';
const HALF = 'M6 1.5a4.5 4.5 0 0 1 0 9Z';
const DOWN = 'M1.5 3h9L6 10.5Z';
const UP = 'M6 1.5 10.5 9h-9Z';
const CROSS = 'm2.5 2.5 7 7m0-7-7 7';
const DIAMOND = 'M6 .75 11.25 6 6 11.25.75 6Z';
const SQUARE = 'M2 2h8v8H2Z';
const PLUS = 'M6 1.5v9M1.5 6h9';
const BOLT = 'M7.5.75 2 7h3.25L4.5 11.25 10 5H6.75Z';
const LEFT = 'M9.5 1.5v9L2 6Z';

/** In the order of a machine's life, which is the order of every `byState`. */
export const STATES: Readonly<Record<StateName, Look>> = {
  Speculative: { token: '--state-speculative', label: 'Speculative', shape: { line: DASHED } },
  Creating: { token: '--state-creating', label: 'Creating', shape: { solid: HALF, line: RING } },
  Idle: { token: '--state-idle', label: 'Idle', shape: { line: RING } },
  Configuring: {
    token: '--state-configuring',
    label: 'Configuring',
    shape: { solid: DOT, line: RING },
  },
  Configured: { token: '--state-configured', label: 'Configured', shape: { solid: DISC } },
  Draining: { token: '--state-draining', label: 'Draining', shape: { solid: DOWN } },
  Deleting: { token: '--state-deleting', label: 'Deleting', shape: { line: CROSS } },
  Failed: { token: '--state-failed', label: 'Failed', shape: { solid: DIAMOND } },
};

export const CAPACITY_TYPES: Readonly<Record<CapacityName, Look>> = {
  BareMetal: { token: '--capacity-baremetal', label: 'Bare metal', shape: { solid: SQUARE } },
  Reserved: { token: '--capacity-reserved', label: 'Reserved', shape: { solid: DISC } },
  OnDemand: { token: '--capacity-ondemand', label: 'On demand', shape: { solid: UP } },
  Spot: { token: '--capacity-spot', label: 'Spot', shape: { solid: DIAMOND } },
};

export const ACTION_KINDS: Readonly<Record<KindName, Look>> = {
  Bootstrap: { token: '--action-bootstrap', label: 'Bootstrap', shape: { solid: DISC } },
  Provision: { token: '--action-provision', label: 'Provision', shape: { line: PLUS } },
  Reclaim: { token: '--action-reclaim', label: 'Reclaim', shape: { solid: LEFT } },
  Preempt: { token: '--action-preempt', label: 'Preempt', shape: { solid: BOLT } },
  Delete: { token: '--action-delete', label: 'Delete', shape: { line: CROSS } },
};

const TIERS: Readonly<Record<TierName, Look>> = {
  critical: { token: '--tier-critical', label: 'Critical', shape: { solid: DIAMOND } },
  service: { token: '--tier-service', label: 'Service', shape: { solid: UP } },
  batch: { token: '--tier-batch', label: 'Batch', shape: { solid: SQUARE } },
};

/** The look of a name that an answer carries; answers are additive, so an unknown one is grey. */
export function lookOf(name: string): Look {
  return KNOWN.get(name) ?? { token: '--text-faint', label: name, shape: { line: RING } };
}

const KNOWN: ReadonlyMap<string, Look> = new Map(
  Object.entries({ ...STATES, ...CAPACITY_TYPES, ...ACTION_KINDS, ...TIERS }),
);
