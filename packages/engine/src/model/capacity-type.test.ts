// Proves how long each capacity type is held idle, and that no policy can release owned hardware.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CapacityType,
  capacityTypeName,
  DEFAULT_RELEASE_POLICY,
  holdMs,
  isCapacityTypeCode,
} from './capacity-type.ts';

const NEVER = Number.POSITIVE_INFINITY;
const { BareMetal, Reserved, OnDemand, Spot } = CapacityType;

test('holds of the default policy', () => {
  for (const [type, hold] of [
    [BareMetal, NEVER],
    [Reserved, NEVER],
    [OnDemand, 10 * 60_000],
    [Spot, 60_000],
    [0, NEVER],
    [5, NEVER],
    [Number.NaN, NEVER],
  ] as const) {
    assert.equal(holdMs(type, DEFAULT_RELEASE_POLICY), hold, capacityTypeName(type));
  }
});

test('a policy moves the elastic holds only, and a hold of zero or less is never', () => {
  const policy = { onDemandHoldMs: 1, spotHoldMs: 2 };
  const holds = [BareMetal, Reserved, OnDemand, Spot].map((type) => holdMs(type, policy));
  assert.deepEqual(holds, [NEVER, NEVER, 1, 2]);
  for (const hold of [0, -1, Number.NaN]) {
    const off = { onDemandHoldMs: hold, spotHoldMs: hold };
    for (const type of [BareMetal, Reserved, OnDemand, Spot])
      assert.equal(holdMs(type, off), NEVER);
  }
});

test('codes and names', () => {
  const codes = [-1, 0, 0.5, 1, 2, 3, 4, 5, Number.NaN];
  assert.deepEqual(codes.filter(isCapacityTypeCode), [1, 2, 3, 4]);
  const names = ['BareMetal', 'Reserved', 'OnDemand', 'Spot'];
  assert.deepEqual([1, 2, 3, 4].map(capacityTypeName), names);
  assert.equal(capacityTypeName(7), 'CapacityType(7)');
});
