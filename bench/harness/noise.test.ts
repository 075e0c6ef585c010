// Proves the rule about a machine that moved: within 10 % believed, beyond it measured once more,
// then marked.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CalibrationPair, isSteady, measureSteadily, shapeK } from './noise.ts';

function pair(kBeforeMs: number, kAfterMs: number): CalibrationPair {
  return { kBeforeMs, kAfterMs };
}

test('the limit is 10 % of the smaller value, in both directions', () => {
  assert.equal(isSteady(pair(1, 1.0999)), true);
  assert.equal(isSteady(pair(1.0999, 1)), true);
  assert.equal(isSteady(pair(1, 1.11)), false);
  assert.equal(isSteady(pair(1.11, 1)), false);
});

test('the smaller K is used, so noise never flatters', () => {
  assert.equal(shapeK(pair(0.9, 0.8)), 0.8);
  assert.equal(shapeK(pair(0.8, 0.9)), 0.8);
});

const steady = pair(1, 1);
const restless = pair(1, 1.5);
const worse = pair(1, 2);

const cases: readonly {
  readonly runs: readonly CalibrationPair[];
  readonly kept: CalibrationPair;
  readonly noisy: boolean;
  readonly measured: number;
}[] = [
  { runs: [steady], kept: steady, noisy: false, measured: 1 },
  { runs: [restless, steady], kept: steady, noisy: false, measured: 2 },
  { runs: [restless, worse, steady], kept: restless, noisy: true, measured: 2 },
  { runs: [worse, restless, steady], kept: restless, noisy: true, measured: 2 },
];

test('at most two measurements', async () => {
  for (const { runs, kept, noisy, measured } of cases) {
    let calls = 0;
    const believed = await measureSteadily(() => {
      const run = runs[calls++];
      return run === undefined ? Promise.reject(new Error('measured again')) : Promise.resolve(run);
    });
    assert.equal(believed.measurement, kept);
    assert.equal(believed.noisy, noisy);
    assert.equal(calls, measured);
  }
});
