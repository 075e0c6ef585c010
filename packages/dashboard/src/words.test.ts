// Proves that the word lists are the engine's and the base's own, each at the place of its number.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PRIORITY_CLASS_LABELS } from '@bigfleet/base';
import { ActionKind, CapacityType, State } from '@bigfleet/engine';
import { CAPACITY_NAMES, KIND_NAMES, STATE_NAMES, TIER_NAMES } from './words.ts';

test('a name stands at the place of its number, and none is missing', () => {
  const { Unspecified: _, ...states } = State;
  const numbered = (names: readonly string[]): object =>
    Object.fromEntries(names.map((name, place) => [name, place + 1]));
  assert.deepEqual(numbered(STATE_NAMES), states);
  assert.deepEqual(numbered(CAPACITY_NAMES), CapacityType);
  assert.deepEqual(numbered(KIND_NAMES), ActionKind);
  assert.deepEqual([...TIER_NAMES, 'other'], PRIORITY_CLASS_LABELS);
});
