// Proves full replacement, the first-roll-up flag and both ways of stamping arrivals.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Need } from '@bigfleet/engine';
import { profileOf } from './closed-loop/shape.ts';
import { service, tiny } from './closed-loop/shapes.ts';
import { DemandTable } from './demand-table.ts';

function row(cluster: string, shape = tiny): Need {
  return {
    cluster,
    profile: profileOf(shape),
    aggregate: shape.perPod,
    minUnit: shape.perPod,
    group: '',
    arrivalUnixNanos: 0n,
  };
}

const arrivals = (table: DemandTable): bigint[] =>
  table.rows().map(({ arrivalUnixNanos }) => arrivalUnixNanos);

test('a roll-up replaces its cluster only, and an empty one removes it', () => {
  const table = new DemandTable();
  table.applyRollup('a', [row('a'), row('a', service)], 1n);
  table.applyRollup('b', [row('b')], 2n);
  assert.equal(table.rows().length, 3);
  table.applyRollup('a', [row('a', service)], 3n);
  assert.deepEqual(
    table.rows().map(({ cluster, profile }) => `${cluster} ${profile.priority}`),
    ['a 1000', 'b 100'],
  );
  table.applyRollup('a', [], 4n);
  assert.deepEqual(
    table.rows().map(({ cluster }) => cluster),
    ['b'],
  );
});

test('any roll-up marks its cluster as reported, for good', () => {
  const table = new DemandTable();
  assert.equal(table.reportedClusters.has('a'), false);
  table.applyRollup('a', [], 1n);
  assert.equal(table.reportedClusters.has('a'), true);
});

test('a row keeps its first arrival, and a new row has its own', () => {
  const table = new DemandTable();
  table.applyRollup('a', [row('a')], 1n);
  table.applyRollup('a', [row('a'), row('a', service)], 2n);
  assert.deepEqual(arrivals(table), [1n, 2n]);
  table.applyRollup('a', [], 3n);
  table.applyRollup('a', [row('a')], 4n);
  assert.deepEqual(arrivals(table), [4n]);
});

test('restamped tables give every row the time of its roll-up', () => {
  const table = new DemandTable('restamped');
  table.applyRollup('a', [row('a')], 1n);
  table.applyRollup('a', [row('a')], 2n);
  assert.deepEqual(arrivals(table), [2n]);
});

test('rows of one key are merged', () => {
  const table = new DemandTable();
  table.applyRollup('a', [row('a'), row('a')], 1n);
  const [merged, ...more] = table.rows();
  assert.equal(more.length, 0);
  assert.equal(merged?.aggregate.get('cpu'), 2 * (tiny.perPod.get('cpu') ?? 0));
});

test('a roll-up that speaks for another cluster is a bug', () => {
  assert.throws(() => new DemandTable().applyRollup('a', [row('b')], 1n), {
    name: 'AssertionError',
  });
});
