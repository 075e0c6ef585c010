// Proves the timings of the last cycles against a slow oracle that keeps every sample: what a ring has lost,
// what it still has, and that a quantile is a sample that was measured.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { KEPT_CYCLES, PHASES, type PhaseTiming, PhaseTimings } from './phase-timings.ts';

function timingOf(timings: PhaseTimings, phase: PhaseTiming['phase']): PhaseTiming | undefined {
  return timings.read().find((one) => one.phase === phase);
}

/** By counting: the smallest sample of the newest 256 that enough of them do not exceed. */
function oracle(all: readonly number[], quantile: number): number {
  const kept = all.slice(-KEPT_CYCLES);
  const enough = kept.filter(
    (one) => kept.filter((other) => other <= one).length >= quantile * kept.length,
  );
  return Math.min(...enough);
}

test('before the first cycle every phase is there, in the order in which they run, and counts none', () => {
  const timings = new PhaseTimings().read();
  const named = timings.map(({ phase }) => phase);
  assert.deepEqual(named, [...PHASES, 'cycle']);
  for (const { cycles, p50Seconds, p99Seconds, maxSeconds } of timings) {
    assert.deepEqual([cycles, p50Seconds, p99Seconds, maxSeconds], [0, 0, 0, 0]);
  }
});

test('at any number of cycles the answer is that of the newest 256', () => {
  const random = createRandom('timings');
  const timings = new PhaseTimings();
  const all: number[] = [];
  for (let cycle = 1; cycle <= 3 * KEPT_CYCLES + 7; cycle++) {
    // Long runs of equal ones, and outliers.
    const seconds = random.below(20) === 0 ? random.float() * 10 : random.below(4) / 8;
    all.push(seconds);
    timings.note('cycle', seconds);
    if (cycle % 37 !== 0 && Math.abs((cycle % KEPT_CYCLES) - 1) > 1) continue;
    assert.deepEqual(timingOf(timings, 'cycle'), {
      phase: 'cycle',
      p50Seconds: oracle(all, 0.5),
      p99Seconds: oracle(all, 0.99),
      maxSeconds: oracle(all, 1),
      cycles: Math.min(cycle, KEPT_CYCLES),
    });
  }
});

test('one slow cycle is the maximum for exactly 256 cycles', () => {
  const timings = new PhaseTimings();
  for (let n = 0; n < 100; n++) timings.note('phase1', 0.1);
  timings.note('phase1', 9);
  for (let n = 0; n < KEPT_CYCLES - 1; n++) {
    assert.equal(timingOf(timings, 'phase1')?.maxSeconds, 9, `after ${n}`);
    timings.note('phase1', 0.1);
  }
  assert.equal(timingOf(timings, 'phase1')?.maxSeconds, 9);
  timings.note('phase1', 0.1);
  assert.equal(timingOf(timings, 'phase1')?.maxSeconds, 0.1);
});

test('phases do not share a ring, and reading changes nothing', () => {
  const timings = new PhaseTimings();
  for (const seconds of [3, 1, 2]) timings.note('execute', seconds);
  timings.note('emit', 7);
  const first = timings.read();
  assert.deepEqual(timings.read(), first);
  const of = (phase: PhaseTiming['phase']): (number | undefined)[] => {
    const timing = first.find((one) => one.phase === phase);
    return [timing?.p50Seconds, timing?.p99Seconds, timing?.maxSeconds, timing?.cycles];
  };
  assert.deepEqual(of('execute'), [2, 3, 3, 3]);
  assert.deepEqual(of('emit'), [7, 7, 7, 1]);
  timings.note('execute', 1);
  assert.equal(
    timingOf(timings, 'execute')?.p50Seconds,
    1,
    'the order of notes is not that of a read',
  );
});
