// Proves that each phase is charged with the time since the boundary before it, that a phase which
// ran twice is charged twice, and that a new cycle starts from nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PhaseStopwatch } from './phase-stopwatch.ts';

test('time goes to the phase that ended', () => {
  let nowMs = 1_000;
  const watch = new PhaseStopwatch(() => nowMs);
  const pass = (): void => {
    for (const [phase, ms] of [
      ['phase1', 5],
      ['phase2', 2],
      ['phase3', 1],
    ] as const) {
      nowMs += ms;
      watch.phaseEnded(phase);
    }
  };
  watch.start();
  pass();
  const first = watch.take();
  assert.deepEqual(first, { phase1: 5, phase2: 2, phase3: 1 });
  pass();
  assert.deepEqual(watch.take(), { phase1: 10, phase2: 4, phase3: 2 });
  nowMs += 100;
  watch.start();
  pass();
  assert.deepEqual(watch.take(), { phase1: 5, phase2: 2, phase3: 1 });
});
