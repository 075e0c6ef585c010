// Proves that a promise counts as broken only when chance cannot explain what was observed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calibrationPoints, poissonRange, rateTicks } from './providers-calibration.ts';

test('the range is near the exact one of the tables', () => {
  // Garwood's exact 95 % limits.
  const exact: readonly (readonly [number, number, number])[] = [
    [0, 0, 3.689],
    [1, 0.025, 5.572],
    [5, 1.623, 11.668],
    [20, 12.217, 30.888],
    [100, 81.364, 121.627],
  ];
  for (const [count, low, high] of exact) {
    const [atLeast, atMost] = poissonRange(count);
    assert.ok(Math.abs(atLeast - low) < 0.06, `${atLeast} of ${low}`);
    assert.ok(Math.abs(atMost - high) < 0.06, `${atMost} of ${high}`);
  }
});

test('few interruptions break no promise, many do', () => {
  const broken = (expected: number, observed: number) =>
    calibrationPoints([{ declared: 0.05, machineHours: 100, expected, observed }])[0]?.isBroken;
  assert.equal(broken(1, 3), false);
  assert.equal(broken(10, 30), true);
  assert.equal(broken(10, 1), true);
  assert.equal(broken(2, 0), false);
  assert.equal(broken(8, 0), true);
});

test('a class that was hardly run has no rate', () => {
  assert.deepEqual(
    calibrationPoints([{ declared: 0.1, machineHours: 0.1, expected: 0.01, observed: 3 }]),
    [],
  );
  const [point] = calibrationPoints([
    { declared: 0.1, machineHours: 50, expected: 5, observed: 4 },
  ]);
  assert.equal(point?.promisedRate, 0.1);
  assert.equal(point?.observedRate, 0.08);
});

test('the ticks of the curve are round and cover it', () => {
  assert.deepEqual(rateTicks(0), [0, 0.0025, 0.005, 0.0075, 0.01]);
  assert.deepEqual(rateTicks(0.06), [0, 0.02, 0.04, 0.06]);
  for (const top of [0.001, 0.013, 0.2, 0.77, 3.2]) {
    const ticks = rateTicks(top);
    assert.ok((ticks.at(-1) ?? 0) >= top, `${ticks.join()} for ${top}`);
    assert.ok(ticks.length >= 3 && ticks.length <= 6, `${ticks.join()} for ${top}`);
  }
});
