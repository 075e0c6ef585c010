// Proves that profile numbers read in order always name the right profile, whatever clusters demand
// and withdraw, and that a profile that stays is never sent twice.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, HALF_DOLLAR_BUCKET, ZERO_BUCKET } from '@bigfleet/base';
import { createProfile, type Need, noResources } from '@bigfleet/engine';
import { DemandLedger } from '../ledgers/demand-ledger.ts';
import { DemandListing } from './demand-listing.ts';

function needOf(cluster: string, priority: number, group = ''): Need {
  const profile = createProfile({
    requirements: [],
    spread: [],
    priority,
    interruptionBucket: priority % 2 === 0 ? ZERO_BUCKET : HALF_DOLLAR_BUCKET,
    reclamationBucket: ZERO_BUCKET,
  });
  const [aggregate, minUnit] = [noResources, noResources];
  return { cluster, profile, aggregate, minUnit, group, arrivalUnixNanos: 1n };
}

for (const seed of [1n, 2n, 3n, 4n]) {
  test(`the ledger follows any sequence of roll-ups (seed ${seed})`, () => {
    const random = createRandom(seed);
    const listing = new DemandListing();
    const ledger = new DemandLedger();
    const truth = new Map<string, Need[]>();
    for (let step = 0; step < 300; step++) {
      const cluster = `c${random.below(5)}`;
      const needs = Array.from({ length: random.below(6) }, () =>
        needOf(cluster, random.below(12), `g${random.below(2)}`),
      );
      truth.set(cluster, needs);
      ledger.applied(cluster, listing.replace(cluster, needs));
      for (const [name, expected] of truth) {
        const listed = [...ledger.profilesOf(name)].map(({ fingerprint }) => fingerprint).sort();
        const wanted = [...new Set(expected.map(({ profile }) => profile.fingerprint))].sort();
        assert.deepEqual(listed, wanted, `step ${step}, ${name}`);
      }
      for (const bucket of [ZERO_BUCKET, HALF_DOLLAR_BUCKET]) {
        const rows = [...truth.values()].flat();
        const inBucket = rows.filter(({ profile }) => profile.interruptionBucket === bucket);
        assert.equal(ledger.rowsIn(bucket), inBucket.length);
      }
    }
  });
}

test('a profile crosses once while anybody demands it', () => {
  const listing = new DemandListing();
  assert.equal(listing.replace('a', [needOf('a', 1)])?.defined.length, 1);
  assert.equal(listing.replace('a', [needOf('a', 1), needOf('a', 1, 'g')])?.defined.length, 0);
  assert.equal(listing.replace('b', [needOf('b', 1)])?.defined.length, 0);
  listing.replace('a', []);
  assert.equal(listing.replace('a', [needOf('a', 1)])?.defined.length, 0);
  listing.replace('a', []);
  listing.replace('b', []);
  const again = listing.replace('b', [needOf('b', 2)]);
  assert.deepEqual(
    again?.defined.map(({ number }) => number),
    [0],
    'a number that is free is used again',
  );
});

test('rows with the profiles that they had before are nothing new, others are', () => {
  const listing = new DemandListing();
  const [one, two] = [needOf('a', 1), needOf('a', 2)];
  assert.notEqual(listing.replace('a', [one, two]), undefined);
  assert.equal(listing.replace('a', [needOf('a', 1, 'g'), needOf('a', 2)]), undefined);
  assert.notEqual(listing.replace('a', [two, one]), undefined, 'another order');
  assert.notEqual(listing.replace('a', [two, one, one]), undefined, 'another count');
  listing.replace('a', []);
  assert.notEqual(listing.replace('a', [two, one, one]), undefined, 'after nothing');
});

test('a forgotten cluster leaves nothing behind', () => {
  const ledger = new DemandLedger();
  ledger.applied('a', new DemandListing().replace('a', [needOf('a', 2), needOf('a', 4)]));
  assert.deepEqual([ledger.has('a'), ledger.rowCountOf('a')], [true, 2]);
  ledger.forget('a');
  assert.deepEqual(
    [ledger.has('a'), ledger.rowCountOf('a'), ledger.rowsIn(ZERO_BUCKET)],
    [false, 0, 0],
  );
});
