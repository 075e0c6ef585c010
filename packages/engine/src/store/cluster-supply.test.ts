// Proves that a cluster's supply stands in keep order, group by group and id by id, over random
// changes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { machine } from '../testing/build.ts';
import { Classes } from './classes.ts';
import { ClusterSupply, type Place } from './cluster-supply.ts';
import { Dimensions } from './dimensions.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'supply-1';

interface Entry extends Place {
  readonly slot: number;
}

function keepOrder(a: Entry, b: Entry): number {
  return (
    a.price - b.price ||
    b.reclamationBucket - a.reclamationBucket ||
    a.klass - b.klass ||
    (a.rank[a.slot] ?? 0) - (b.rank[b.slot] ?? 0)
  );
}

test(`sections agree with a sorted list (seed ${SEED})`, () => {
  const random = createRandom(SEED);
  const supply = new ClusterSupply();
  const rank = Uint32Array.from({ length: 300 }, () => random.uint32());
  // Prices by class: equal price across classes 1 and 2.
  const prices = [3, 1, 1, 0, 2];
  const models = [new Map<number, Entry>(), new Map<number, Entry>()] as const;
  for (let step = 0; step < 6000; step++) {
    const section = random.below(2) as 0 | 1;
    const slot = random.below(300);
    const known = models[section].get(slot);
    if (known !== undefined) {
      supply.remove(section, slot, known);
      models[section].delete(slot);
    } else if (!models[section === 0 ? 1 : 0].has(slot)) {
      const klass = random.below(prices.length);
      const price = prices[klass] ?? 0;
      const entry = { slot, klass, price, reclamationBucket: 1 + random.below(3), rank };
      supply.add(section, slot, entry);
      models[section].set(slot, entry);
    }
    if (step % 200 !== 0) continue;
    for (const each of [0, 1] as const) {
      const expected = [...models[each].values()].sort(keepOrder);
      const groups = supply.sections[each];
      const members = groups.flatMap((group) => [...group.members]);
      assert.deepEqual(
        members,
        expected.map((entry) => entry.slot),
      );
      for (const group of groups) {
        assert.ok(group.members.length > 0, 'no group is empty');
        for (const member of group.members) {
          const entry = models[each].get(member);
          assert.equal(entry?.klass, group.klass);
          assert.equal(entry?.price, group.price);
          assert.equal(entry?.reclamationBucket, group.reclamationBucket);
        }
      }
      const keys = groups.map((group) => `${group.klass} ${group.reclamationBucket}`);
      assert.equal(new Set(keys).size, keys.length, 'one group per class and penalty');
    }
    assert.equal(supply.configuredCount, models[0].size);
    assert.equal(supply.isEmpty, models[0].size + models[1].size === 0);
  }
});

test('Creating machines stand in keep order: price, penalty from high to low, id', () => {
  const classes = new Classes(new Dimensions());
  const [cheap, dear] = [1, 5].map((price) => classes.join(machine({ id: 'm', price })));
  const columns = {
    klass: Uint32Array.from([dear, cheap, cheap, dear, cheap], (id) => id ?? assert.fail()),
    rank: Uint32Array.of(10, 40, 20, 5, 90),
    reclamationBucket: Uint8Array.of(1, 1, 1, 1, 9),
  };
  const supply = new ClusterSupply();
  for (const slot of [0, 1, 2, 3, 4]) supply.addCreating(slot, classes, columns);
  assert.deepEqual([...supply.creating], [4, 2, 1, 3, 0]);
  assert.equal(supply.isEmpty, false);
  supply.removeCreating(1, classes, columns);
  assert.deepEqual([...supply.creating], [4, 2, 3, 0]);
  for (const slot of [0, 4, 2, 3]) supply.removeCreating(slot, classes, columns);
  assert.equal(supply.isEmpty, true);
});
