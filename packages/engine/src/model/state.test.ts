// Proves the state machine: exactly the legal edges, the exact stable and bound sets, the grid of
// every state, and names that show a corrupt byte.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  gridOf,
  isBound,
  isLegalTransition,
  isStable,
  isStateCode,
  State,
  STATE_COUNT,
  type StateCode,
  stateName,
} from './state.ts';

type Name = Exclude<keyof typeof State, 'Unspecified'>;

const NAMES: readonly Name[] = [
  'Speculative',
  'Creating',
  'Idle',
  'Configuring',
  'Configured',
  'Draining',
  'Deleting',
  'Failed',
];

// Engine §1.3, copied by hand: the table is the law, the code is what is tested.
const EDGES: readonly [from: Name, to: Name][] = [
  ['Speculative', 'Creating'],
  ['Creating', 'Idle'],
  ['Creating', 'Failed'],
  ['Idle', 'Configuring'],
  ['Idle', 'Deleting'],
  ['Configuring', 'Configured'],
  ['Configuring', 'Idle'],
  ['Configuring', 'Failed'],
  ['Configured', 'Draining'],
  ['Draining', 'Idle'],
  ['Draining', 'Failed'],
  ['Deleting', 'Speculative'],
  ['Deleting', 'Failed'],
];

test('an edge is legal if and only if the table has it; a field merge always is', () => {
  const legal = new Set(EDGES.map(([from, to]) => `${from} ${to}`));
  assert.equal(legal.size, 13);
  for (const from of NAMES) {
    for (const to of NAMES) {
      const expected = from === to || legal.has(`${from} ${to}`);
      assert.equal(isLegalTransition(State[from], State[to]), expected, `${from} → ${to}`);
    }
  }
});

test('the representative illegal edges are refused', () => {
  for (const [from, to] of [
    ['Speculative', 'Idle'],
    ['Idle', 'Speculative'],
    ['Configured', 'Configuring'],
    ['Configured', 'Deleting'],
    ['Failed', 'Idle'],
    ['Configured', 'Failed'],
    ['Idle', 'Failed'],
  ] as const) {
    assert.equal(isLegalTransition(State[from], State[to]), false, `${from} → ${to}`);
  }
});

test('every transitional state may fail and no stable one may', () => {
  for (const name of NAMES) {
    if (name === 'Failed') continue;
    const canFail = isLegalTransition(State[name], State.Failed);
    assert.equal(canFail, !isStable(State[name]), name);
  }
});

test('the stable set and the bound set are exact, over every byte', () => {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  assert.deepEqual(bytes.filter(isStable), [State.Speculative, State.Idle, State.Configured]);
  const bound = [State.Configuring, State.Configured, State.Draining];
  assert.deepEqual(bytes.filter(isBound), bound);
});

test('state codes are the integers 1 to 8', () => {
  const codes = [-1, 0, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 255, Number.NaN, Number.POSITIVE_INFINITY];
  assert.deepEqual(codes.filter(isStateCode), [1, 2, 3, 4, 5, 6, 7, 8]);
  assert.equal(STATE_COUNT, 9);
});

test('a corrupt state shows in its name', () => {
  assert.equal(stateName(State.Configured), 'Configured');
  assert.equal(stateName(0), 'Unspecified');
  for (const code of [9, 255, -1]) assert.equal(stateName(code), `State(${code})`);
});

test('each state requires its host and cluster', () => {
  const grid: Readonly<Record<Name, readonly [host: string, cluster: string]>> = {
    Speculative: ['empty', 'empty'],
    Creating: ['empty', 'empty'],
    Idle: ['set', 'empty'],
    Configuring: ['set', 'set'],
    Configured: ['set', 'set'],
    Draining: ['set', 'set'],
    Deleting: ['set', 'empty'],
    Failed: ['any', 'any'],
  };
  for (const name of NAMES) {
    const code: StateCode = State[name];
    const [host, cluster] = grid[name];
    assert.deepEqual(gridOf(code), { host, cluster }, name);
  }
});
