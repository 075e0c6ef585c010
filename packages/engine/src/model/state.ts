// The machine's eight states, what each requires of a record, and the edges that our own
// actions walk. What a provider observes is not bound by the edges: ingest applies an
// unsolicited jump (a lost host) as remove and insert.

export const State = {
  Unspecified: 0,
  Speculative: 1,
  Creating: 2,
  Idle: 3,
  Configuring: 4,
  Configured: 5,
  Draining: 6,
  Deleting: 7,
  Failed: 8,
} as const;

/** A real state; 0 never enters the inventory. */
export type StateCode = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

export const STATE_COUNT = 9;

const NAMES: readonly string[] = Object.keys(State);

/** PascalCase as in metrics; a corrupt byte shows as `State(n)` instead of hiding. */
export function stateName(state: number): string {
  return NAMES[state] ?? `State(${state})`;
}

export function isStateCode(state: number): state is StateCode {
  return Number.isInteger(state) && state >= State.Speculative && state <= State.Failed;
}

/** The engine only emits actions that start in one of these. */
export function isStable(state: number): boolean {
  return state === State.Speculative || state === State.Idle || state === State.Configured;
}

export function isBound(state: number): boolean {
  return state === State.Configuring || state === State.Configured || state === State.Draining;
}

type Presence = 'set' | 'empty' | 'any';

interface Grid {
  readonly host: Presence;
  readonly cluster: Presence;
}

const grid: Readonly<Record<StateCode, Grid>> = {
  [State.Speculative]: { host: 'empty', cluster: 'empty' },
  [State.Creating]: { host: 'empty', cluster: 'empty' },
  [State.Idle]: { host: 'set', cluster: 'empty' },
  [State.Configuring]: { host: 'set', cluster: 'set' },
  [State.Configured]: { host: 'set', cluster: 'set' },
  [State.Draining]: { host: 'set', cluster: 'set' },
  [State.Deleting]: { host: 'set', cluster: 'empty' },
  [State.Failed]: { host: 'any', cluster: 'any' },
};

/** What a record in this state must and must not carry. */
export function gridOf(state: StateCode): Grid {
  return grid[state];
}

/** Whether a field that is or is not set is what the grid asks for. */
export function isPresent(required: Presence, isSet: boolean): boolean {
  return required === 'any' || (required === 'set') === isSet;
}

const edges: Readonly<Record<StateCode, readonly StateCode[]>> = {
  [State.Speculative]: [State.Creating],
  [State.Creating]: [State.Idle, State.Failed],
  [State.Idle]: [State.Configuring, State.Deleting],
  // Back to Idle only while the provider is untouched: a bootstrap that timed out must not
  // shrink the idle pool for ever.
  [State.Configuring]: [State.Configured, State.Idle, State.Failed],
  [State.Configured]: [State.Draining],
  [State.Draining]: [State.Idle, State.Failed],
  [State.Deleting]: [State.Speculative, State.Failed],
  [State.Failed]: [],
};

/** Same-state writes are field merges and always legal. */
export function isLegalTransition(from: StateCode, to: StateCode): boolean {
  return from === to || edges[from].includes(to);
}
