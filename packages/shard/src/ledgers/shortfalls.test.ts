// Proves the shortfall summary: classes and ages add up to the total, the three oldest are shown,
// and an entry is escalated in exactly one cycle of its life.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, ZERO_BUCKET } from '@bigfleet/base';
import { createProfile, noResources, type Shortfall } from '@bigfleet/engine';
import { summariseShortfalls } from './shortfalls.ts';

function shortfall(priority: number, ageCycles: number): Shortfall {
  const profile = createProfile({
    requirements: [],
    spread: [],
    priority,
    interruptionBucket: ZERO_BUCKET,
    reclamationBucket: ZERO_BUCKET,
  });
  const reasonCode = 'priority_starved';
  const [deficit, minUnit] = [noResources, noResources];
  return { profile, deficit, minUnit, ageCycles, reasonCode, clusters: [] };
}

function ledgerOf(entries: readonly Shortfall[]): ReadonlyMap<string, Shortfall> {
  return new Map(entries.map((entry) => [entry.profile.fingerprint, entry]));
}

const ages: readonly (readonly [number, string])[] = [
  [1, '1-9'],
  [9, '1-9'],
  [10, '10-59'],
  [59, '10-59'],
  [60, '60-299'],
  [299, '60-299'],
  [300, '300+'],
];
for (const [age, bucket] of ages) {
  test(`age ${age} is in ${bucket}`, () => {
    const { byAge } = summariseShortfalls(ledgerOf([shortfall(0, age)]));
    assert.deepEqual(
      Object.entries(byAge).filter(([, count]) => count > 0),
      [[bucket, 1]],
    );
  });
}

const classes: readonly (readonly [number, string])[] = [
  [-5, 'batch'],
  [999, 'batch'],
  [1_000, 'service'],
  [999_999, 'service'],
  [1_000_000, 'critical'],
];
for (const [priority, name] of classes) {
  test(`priority ${priority} is ${name}`, () => {
    const { byPriority } = summariseShortfalls(ledgerOf([shortfall(priority, 1)]));
    assert.deepEqual(
      Object.entries(byPriority).filter(([, count]) => count > 0),
      [[name, 1]],
    );
  });
}

test('the oldest three, by age and then priority, out of many', () => {
  const random = createRandom(5n);
  const entries = Array.from({ length: 200 }, (_, at) => shortfall(at, 1 + random.below(40)));
  const { oldest, count, byAge, byPriority } = summariseShortfalls(ledgerOf(entries));
  const sorted = [...entries].sort(
    (a, b) => b.ageCycles - a.ageCycles || b.profile.priority - a.profile.priority,
  );
  assert.deepEqual(
    oldest,
    sorted.slice(0, 3).map(({ profile }) => profile.fingerprint),
  );
  const sum = (counts: Readonly<Record<string, number>>): number =>
    Object.values(counts).reduce((total, each) => total + each, 0);
  assert.deepEqual([sum(byAge), sum(byPriority)], [count, count]);
});

test('escalated above five cycles, told in the sixth only', () => {
  for (let age = 1; age < 20; age++) {
    const { escalatedCount, newlyEscalated } = summariseShortfalls(ledgerOf([shortfall(0, age)]));
    assert.deepEqual([escalatedCount, newlyEscalated.length], [age > 5 ? 1 : 0, age === 6 ? 1 : 0]);
  }
});
