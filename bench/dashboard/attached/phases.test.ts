// Proves that a phase with a reader is compared with the phases around it, so that a machine that slows down
// during a run does not read as the cost of a reader, and that an order without such neighbours is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparePhases, type MeasuredPhase, phaseOrder, type Side } from './phases.ts';

/** A machine that loses a tenth of a percent per phase, and a reader that costs so many per cent. */
function phasesOf(order: readonly Side[], cost: Readonly<Record<Side, number>>): MeasuredPhase[] {
  return order.map((side, at) => {
    const drift = 1 + at / 1_000;
    const cpuMsPerCycle = 20 * drift * cost[side];
    return { side, cpuMsPerCycle, cyclesMs: Float64Array.of(8 * drift, 10 * drift, 12 * drift) };
  });
}

test('readers stand between phases without one, and take turns at being first', () => {
  const order = phaseOrder(2);
  assert.deepEqual(order, [
    'detached',
    'fast',
    'detached',
    'slow',
    'detached',
    'slow',
    'detached',
    'fast',
    'detached',
  ]);
});

test('a machine that slows down is no cost of a reader', () => {
  const phases = phasesOf(phaseOrder(6), { detached: 1, fast: 1.03, slow: 1 });
  const found = comparePhases(phases);
  assert.ok(Math.abs(Number(found['fastCpuRatio']) - 1.03) < 1e-9);
  assert.ok(Math.abs(Number(found['slowCpuRatio']) - 1) < 1e-9);
  assert.ok(Math.abs(Number(found['fastCycleRatio']) - 1) < 1e-9);
  assert.equal(found['fastCpuRatioConfident'], true);
  assert.equal(found['detachedCycleCount'], 13 * 3);
  assert.equal(String(found['fastCpuRatioRaw']).split(' ').length, 6);
});

test('fewer than six rounds claim no confidence', () => {
  const found = comparePhases(phasesOf(phaseOrder(2), { detached: 1, fast: 1, slow: 1 }));
  assert.equal(found['fastCpuRatioConfident'], false);
});

test('a phase without neighbours is refused', () => {
  const phases = phasesOf(['detached', 'fast', 'slow', 'detached'], {
    detached: 1,
    fast: 1,
    slow: 1,
  });
  assert.throws(() => comparePhases(phases), /no phase without a reader/);
});
