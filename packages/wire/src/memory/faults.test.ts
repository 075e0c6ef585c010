// Proves that fault plans are functions of their seed, that a longer plan begins like a shorter
// one, and that what breaks is repaired.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import fc from 'fast-check';
import { type Fault, type FaultPlan, faultText, randomFaults } from './faults.ts';

const hosts = ['a', 'b', 'c'];

function plan(seed: string, untilMs: number): FaultPlan {
  return randomFaults(createRandom(seed), {
    hosts,
    addresses: ['a:1'],
    untilMs,
    everyMs: 100,
    maxFaultMs: 500,
  });
}

test('one seed gives one plan, and a longer plan begins like a shorter one', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 0, max: 3_000 }), (seed, untilMs) => {
      const short = plan(seed, untilMs);
      assert.deepEqual(plan(seed, untilMs), short);
      const long = plan(seed, untilMs + 2_000);
      assert.deepEqual(long.profile, short.profile);
      const begun = (events: FaultPlan['events']) =>
        events.filter(({ atMs }) => atMs < untilMs).map(({ atMs, fault }) => [atMs, fault]);
      assert.deepEqual(begun(long.events), begun(short.events));
    }),
  );
});

test('every kind of fault occurs, in order of time, and whatever begins also ends', () => {
  const kinds = new Map<Fault['kind'], number>();
  const { events } = plan('every kind', 500_000);
  let lastMs = 0;
  for (const { atMs, fault } of events) {
    assert.ok(atMs >= lastMs);
    lastMs = atMs;
    assert.notEqual(faultText(fault), '');
    kinds.set(fault.kind, (kinds.get(fault.kind) ?? 0) + 1);
  }
  const count = (kind: Fault['kind']): number => kinds.get(kind) ?? 0;
  for (const [begin, end] of [
    ['partition', 'heal'],
    ['block', 'unblock'],
    ['refuse', 'admit'],
  ] as const) {
    assert.ok(count(begin) > 0, begin);
    assert.equal(count(begin), count(end));
  }
  assert.ok(
    count('crash') > 0 && count('vanish') > 0 && count('reset') > 0 && count('profile') > 0,
  );
  assert.equal(count('restart'), count('crash') + count('vanish'));
});
