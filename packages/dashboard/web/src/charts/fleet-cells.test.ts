// Proves that changes told between two answers end in the same cells as the next answer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../../../src/api/answers.ts';
import { FleetCells } from './fleet-cells.ts';

function answer(): Answer<'map'> {
  const group = (path: string, count: number) => ({
    path: [path],
    count,
    dollarsPerHour: count,
    byState: [],
    byCluster: [],
    meanRisk: 0,
  });
  return {
    frame: { atMs: 1, isPast: false, isSimulated: false, oldestMs: 0, sources: [] },
    total: 5,
    isAggregated: false,
    clusters: ['none', 'a'],
    groups: [group('x', 2), group('empty', 0), group('y', 3)],
    cells: {
      machine: ['m0', 'm1', 'm2', 'm3', 'm4'],
      group: [0, 0, 2, 2, 2],
      state: [4, 4, 2, 4, 4],
      cluster: [1, 1, 0, 1, 1],
      dollarsPerHour: [1, 1, 1, 1, 1],
      risk: [0, 0, 0, 0, 0],
      sinceMs: [0, 0, 0, 0, 0],
    },
  };
}

const change = { dollarsPerHour: 2, risk: 0.1, sinceMs: 9 };

test('cells know their group, also beside an empty one', () => {
  const cells = new FleetCells(answer());
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((index) => cells.groupOf(index)),
    [0, 0, 2, 2, 2],
  );
  assert.deepEqual(
    [0, 1, 2].map((group) => cells.countOf(group)),
    [2, 0, 3],
  );
});

test('a change is applied once, and only one that is seen is touched', () => {
  const cells = new FleetCells(answer());
  const event = {
    shard: 's',
    changed: [
      { machine: 'm2', state: 'Configuring' as const, cluster: 'new', ...change },
      { machine: 'm3', state: 'Configured' as const, cluster: 'a', ...change },
      { machine: 'unknown', state: 'Idle' as const, cluster: '', ...change },
    ],
    removed: [],
    isOverflow: false,
  };
  assert.deepEqual(cells.apply(event), [2]);
  assert.deepEqual(cells.apply(event), []);
  assert.equal(cells.stateName(2), 'Configuring');
  assert.equal(cells.clusterName(2), 'new');
  assert.equal(cells.dollarsPerHour[3], 2);
  assert.equal(cells.clusterName(0), 'a');
});

test('an answer without cells is an empty map', () => {
  const cells = new FleetCells({ ...answer(), cells: null, isAggregated: true });
  assert.equal(cells.count, 0);
  assert.equal(cells.indexOf('m0'), -1);
});
