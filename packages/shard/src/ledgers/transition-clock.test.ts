// Proves ages and phases of transitions: the oldest is found without a walk, a phase whose beginning
// nobody saw is not measured, and a drain's age restarts while its phase does not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStateCode, State, stateName } from '@bigfleet/engine';
import { isTransitional, TransitionClock } from './transition-clock.ts';

test('the oldest of each state, as machines come and go', () => {
  const clock = new TransitionClock();
  clock.entered('a', State.Creating, 1, true);
  clock.entered('b', State.Creating, 2, true);
  clock.entered('c', State.Deleting, 3, true);
  assert.deepEqual(clock.oldest(State.Creating), { machineId: 'a', sinceMs: 1 });
  assert.equal(clock.left('a', State.Creating), 1);
  assert.deepEqual(clock.oldest(State.Creating), { machineId: 'b', sinceMs: 2 });
  assert.deepEqual(clock.oldest(State.Deleting), { machineId: 'c', sinceMs: 3 });
  assert.equal(clock.oldest(State.Draining), undefined);
});

test('what was under way before this process began has an age and no phase', () => {
  const clock = new TransitionClock();
  clock.entered('a', State.Configuring, 5, false);
  assert.deepEqual(clock.oldest(State.Configuring), { machineId: 'a', sinceMs: 5 });
  assert.equal(clock.left('a', State.Configuring), undefined);
  assert.equal(clock.left('unknown', State.Configuring), undefined);
});

test('a restarted age leaves the phase whole', () => {
  const clock = new TransitionClock();
  clock.entered('a', State.Draining, 1, true);
  clock.entered('b', State.Draining, 2, true);
  clock.restarted('a', State.Draining, 600);
  assert.deepEqual(clock.oldest(State.Draining), { machineId: 'b', sinceMs: 2 });
  assert.equal(clock.left('a', State.Draining), 1);
});

test('four states are transitional', () => {
  const states = Object.values(State).filter(isStateCode).filter(isTransitional);
  assert.deepEqual(states.map(stateName).sort(), [
    'Configuring',
    'Creating',
    'Deleting',
    'Draining',
  ]);
});
