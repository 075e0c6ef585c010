// Proves that the candidates of every set hold its machines in keep order, that they follow the
// supply, and that many sets share one list instead of outgrowing the machines.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EligibleSet, EligibleSets } from '../match/eligible-set.ts';
import { Operator } from '../model/requirement.ts';
import { CELL, CLASS } from '../store/cluster-supply.ts';
import { Inventory } from '../store/inventory.ts';
import { machine, resources } from '../testing/build.ts';
import { CandidateCells } from './candidate-cells.ts';

const TYPES = ['x', 'y', 'z'];

function stocked(): Inventory {
  const inventory = new Inventory();
  for (let at = 0; at < 30; at++) {
    const type = TYPES[at % 3] ?? '';
    const put = inventory.put(
      machine({ id: `m${at}`, state: 'Configured', cluster: 'c', type, price: (at * 7) % 5 }),
      1,
    );
    assert.ok(put.ok);
  }
  return inventory;
}

function setOf(sets: EligibleSets, name: string, types: readonly string[]): EligibleSet {
  const requirement = {
    key: 'node.kubernetes.io/instance-type',
    operator: Operator.In,
    values: types,
  };
  return sets.retain(sets.retainMatch([requirement], name), resources({}), name);
}

function assertCandidates(
  candidates: CandidateCells,
  sets: readonly EligibleSet[],
  inventory: Inventory,
): void {
  const supply = inventory.supplyOf(inventory.clusterIndex('c')) ?? assert.fail();
  candidates.begin(supply);
  const { cells, boundEnd } = supply;
  for (const [at, { set }] of sets.entries()) {
    const start = candidates.starts[at] ?? -1;
    assert.equal(candidates.cursors[at], start);
    const places = [...candidates.places.subarray(start, candidates.ends[at])];
    const isEligible = (place: number): boolean => set.has(cells[place + CLASS] ?? -1);
    const expected = Array.from({ length: boundEnd / CELL }, (_, cell) => cell * CELL);
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
      'in keep order',
    );
    assert.deepEqual(places.filter(isEligible), expected.filter(isEligible), 'none is missing');
  }
}

test('lists hold what is eligible and follow the supply', () => {
  const inventory = stocked();
  const registry = new EligibleSets(inventory.classes);
  const sets = [['x'], ['y', 'z'], []].map((types, at) => setOf(registry, `set-${at}`, types));
  const candidates = new CandidateCells();
  candidates.setUp(sets);
  assertCandidates(candidates, sets, inventory);
  assert.equal(candidates.ends[2], candidates.starts[2], 'a set without machines has no list');
  inventory.remove('m3');
  assert.ok(
    inventory.put(machine({ id: 'n', state: 'Configured', cluster: 'c', type: 'x' }), 1).ok,
  );
  assertCandidates(candidates, sets, inventory);
});

test('sets beyond the bound share the list of all', () => {
  const inventory = stocked();
  const registry = new EligibleSets(inventory.classes);
  const sets = Array.from({ length: 60 }, (_, at) => setOf(registry, `set-${at}`, TYPES));
  const candidates = new CandidateCells();
  candidates.setUp(sets);
  assertCandidates(candidates, sets, inventory);
  assert.ok(candidates.places.length <= 30 * 40, `${candidates.places.length} places`);
  assert.equal(candidates.starts[58], candidates.starts[59]);
});
