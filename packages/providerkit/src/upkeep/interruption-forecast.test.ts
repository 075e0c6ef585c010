// Proves the conversion of monthly buckets to the hourly field, and that spot is never free of risk.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type FrequencyBucket,
  forecastInterruption,
  hourlyProbability,
} from './interruption-forecast.ts';

const rows: readonly (readonly [FrequencyBucket | undefined, number])[] = [
  ['<5%', 0.025],
  ['5-10%', 0.075],
  ['10-15%', 0.125],
  ['15-20%', 0.175],
  ['>20%', 0.3],
  [undefined, 0.125],
];

for (const [bucket, monthly] of rows) {
  test(`spot in bucket ${bucket ?? 'unknown'} adds up to ${monthly} a month`, () => {
    const hourly = forecastInterruption('Spot', bucket);
    assert.ok(hourly > 0 && hourly < 0.001);
    assert.ok(Math.abs(1 - (1 - hourly) ** 720 - monthly) < 1e-9);
  });
}

test('other capacity is not interrupted, and the ends of the scale are exact', () => {
  for (const type of ['OnDemand', 'Reserved', 'BareMetal'] as const) {
    assert.equal(forecastInterruption(type, '>20%'), 0);
  }
  assert.equal(hourlyProbability(0), 0);
  assert.equal(hourlyProbability(1), 1);
});
