// Proves that a roll-up is the exact total of what the index holds at that moment, that a bad request
// is left out alone, and that the index keeps nothing of requests that are gone.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DemandIndex } from './demand-index.ts';
import type { Rollup } from './rollup.ts';
import { request } from './testing/requests.ts';

function rows({ needs }: Rollup): [number, Record<string, string>, Record<string, string>][] {
  return needs.map(({ profile, aggregateResources, minUnit }) => [
    profile.priority,
    Object.fromEntries(aggregateResources),
    Object.fromEntries(minUnit),
  ]);
}

const gang = { topologyKey: 'rack', labelSelector: { matchLabels: { app: 'mpi' } } };

describe('DemandIndex', () => {
  it('adds vectors and takes the maximum per dimension', () => {
    const index = new DemandIndex();
    index.set(request({ spec: { resources: { cpu: '500m', memory: '4Gi' } } }));
    index.set(request({ spec: { resources: { cpu: '2', memory: '1Gi' } } }));
    index.set(request({ spec: { resources: { cpu: '500m', memory: '4Gi' } } }));
    index.set(request({ spec: { priority: 5, resources: { cpu: '1500u' } } }));
    assert.deepEqual(rows(index.rollup()), [
      [0, { cpu: '3', memory: '9663676416' }, { cpu: '2', memory: '4294967296' }],
      [5, { cpu: '2m' }, { cpu: '2m' }],
    ]);
  });

  it('rounds the sum, not the summands', () => {
    const index = new DemandIndex();
    for (let n = 0; n < 1_000; n++) index.set(request({ spec: { resources: { cpu: '1500u' } } }));
    assert.deepEqual(rows(index.rollup()), [[0, { cpu: '1500m' }, { cpu: '2m' }]]);
  });

  it('omits an empty vector and still has the row', () => {
    const index = new DemandIndex();
    index.set(request({ spec: { resources: { cpu: '0' } } }));
    assert.deepEqual(rows(index.rollup()), [[0, {}, {}]]);
  });

  it('makes one need of 500 replicas, and one per namespace of a gang', () => {
    const index = new DemandIndex();
    for (let n = 0; n < 500; n++) index.set(request({ namespace: `ns-${n % 5}` }));
    assert.equal(index.rollup().needs.length, 1);
    for (const namespace of ['a', 'a', 'b']) {
      index.set(request({ namespace, spec: { coLocation: gang } }));
    }
    const groups = index
      .rollup()
      .needs.map(({ group, profile }) => [group !== '', profile.same !== undefined]);
    assert.deepEqual(groups, [
      [true, true],
      [true, true],
      [false, false],
    ]);
  });

  it('leaves out a bad request alone, unacknowledged, and says why', () => {
    const index = new DemandIndex();
    index.set(request({ uid: 'good' }));
    const refusal = index.set(request({ uid: 'bad', spec: { resources: { cpu: 'x' } } }));
    assert.equal(refusal?.reason, 'bad_quantity');
    const rollup = index.rollup();
    assert.deepEqual(rows(rollup), [[0, { cpu: '1' }, { cpu: '1' }]]);
    assert.deepEqual(
      rollup.refused.map((one) => one.request.uid),
      ['bad'],
    );
    assert.deepEqual(
      rollup.unacknowledged.map(({ uid }) => uid),
      ['good'],
    );
    assert.equal(rollup.requestCount, 2);
  });

  it('leaves out foreign pods, bad ones too, but acknowledges them', () => {
    const index = new DemandIndex();
    index.set(request({ uid: 'f1', isForeign: true }));
    index.set(request({ uid: 'f2', isForeign: true, spec: { resources: { cpu: 'x' } } }));
    index.set(request({ uid: 'f3', isForeign: true, isAcknowledged: true }));
    const rollup = index.rollup();
    assert.deepEqual(rollup.needs, []);
    assert.deepEqual(rollup.refused, []);
    assert.equal(rollup.foreignCount, 3);
    assert.deepEqual(
      rollup.unacknowledged.map(({ uid }) => uid),
      ['f1', 'f2'],
    );
  });

  it('counts a foreign pod again when the mark goes', () => {
    const index = new DemandIndex();
    index.set(request({ uid: 'p', isForeign: true, isAcknowledged: true }));
    assert.equal(index.set(request({ uid: 'p', isAcknowledged: true })), undefined);
    const rollup = index.rollup();
    assert.deepEqual(rows(rollup), [[0, { cpu: '1' }, { cpu: '1' }]]);
    assert.deepEqual([rollup.foreignCount, rollup.unacknowledged], [0, []]);
  });

  it('replaces by uid and forgets what was deleted', () => {
    const index = new DemandIndex();
    index.set(request({ uid: 'a', spec: { coLocation: gang } }));
    index.set(request({ uid: 'b' }));
    index.set(request({ uid: 'b', spec: { resources: { cpu: '3' } } }));
    assert.equal(index.cellCount, 2);
    assert.equal(index.delete('a'), true);
    assert.equal(index.delete('a'), false);
    assert.deepEqual(rows(index.rollup()), [[0, { cpu: '3' }, { cpu: '3' }]]);
    index.delete('b');
    assert.deepEqual([index.requestCount, index.cellCount], [0, 0]);
    assert.deepEqual(index.rollup().needs, []);
  });

  it('does not grow with gangs that are gone', () => {
    const index = new DemandIndex();
    for (let n = 0; n < 1_000; n++) {
      const labelSelector = { matchLabels: { job: `j-${n}` } };
      index.set(
        request({ uid: 'job', spec: { coLocation: { topologyKey: 'rack', labelSelector } } }),
      );
    }
    assert.equal(index.cellCount, 1);
  });

  it('sums 100,000 requests in one go', () => {
    const index = new DemandIndex();
    for (let n = 0; n < 100_000; n++) {
      const resources = { cpu: `${100 + (n % 40) * 50}m`, memory: '768Gi' };
      index.set(request({ isAcknowledged: true, spec: { priority: n % 7, resources } }));
    }
    const rollup = index.rollup();
    const total = rollup.needs.reduce(
      (sum, { aggregateResources }) => sum + BigInt(aggregateResources.get('memory') ?? ''),
      0n,
    );
    assert.equal(total, 82_463_372_083_200_000n);
    assert.equal(rollup.needs.length, 7);
  });
});
