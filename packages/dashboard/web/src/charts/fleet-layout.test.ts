// Proves that the fleet map puts every machine in a place of its own, finds it again under a point, and
// leaves other groups alone when one changes a little.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { cellBox, layoutFleet, parsePath, placeAt, printPath } from './fleet-layout.ts';

const SIZE = { width: 1_200, height: 640 };

function fleet(seed: string): { path: readonly string[]; count: number }[] {
  const random = createRandom(seed);
  return Array.from({ length: 20 + random.below(40) }, (_, at) => ({
    path: [`region-${at % 3}`, `zone-${at % 7}`, `rack-${at}`],
    count: 1 + random.below(90),
  }));
}

test('each machine has its own place inside of the picture, and a point there finds it', () => {
  for (let seed = 0; seed < 30; seed += 1) {
    const groups = fleet(`layout-${seed}`);
    const { leaves } = layoutFleet({ groups, ...SIZE, zoom: [] });
    assert.equal(leaves.length, groups.length);
    for (const leaf of leaves) {
      const count = groups[leaf.group]?.count ?? 0;
      for (let place = 0; place < count; place += 1) {
        const box = cellBox(leaf, place);
        assert.ok(box.x >= 0 && box.x + box.width <= SIZE.width + 1e-6, `seed ${seed}`);
        assert.ok(box.y >= 0 && box.y + box.height <= SIZE.height + 1e-6, `seed ${seed}`);
        const found = placeAt(leaf, box.x + box.width / 2, box.y + box.height / 2, count);
        assert.equal(found, place, `seed ${seed}`);
      }
      assert.equal(placeAt(leaf, leaf.x - 1, leaf.y, count), -1);
    }
  }
});

test('a point beside the last machine of a group finds none', () => {
  const [leaf] = layoutFleet({ groups: [{ path: ['a'], count: 7 }], ...SIZE, zoom: [] }).leaves;
  assert.ok(leaf !== undefined && 7 % leaf.columns !== 0, 'the last row is not full');
  const free = cellBox(leaf, 7);
  assert.equal(placeAt(leaf, free.x + 1, free.y + 1, 7), -1);
});

test('the same groups lie the same way whatever their order', () => {
  const groups = fleet('order');
  const turned = groups.toReversed();
  const boxes = (list: typeof groups) =>
    layoutFleet({ groups: list, ...SIZE, zoom: [] })
      .leaves.map(
        (leaf) => `${leaf.path.join('/')} ${leaf.x} ${leaf.y} ${leaf.width} ${leaf.height}`,
      )
      .sort();
  assert.deepEqual(boxes(groups), boxes(turned));
});

test('a machine that joins moves nothing outside of its group', () => {
  const groups = ['a', 'b', 'c', 'd'].map((rack) => ({ path: ['r', 'z', rack], count: 100 }));
  const before = layoutFleet({ groups, ...SIZE, zoom: [] });
  const grown = groups.map((group) => (group.path[2] === 'b' ? { ...group, count: 103 } : group));
  const after = layoutFleet({ groups: grown, ...SIZE, zoom: [] });
  const outer = ({ x, y, width, height }: (typeof before.leaves)[number]) => ({
    x,
    y,
    width,
    height,
  });
  assert.deepEqual(after.leaves.map(outer), before.leaves.map(outer));
});

test('a zoom shows only what lies below it, and one that leads nowhere shows nothing', () => {
  const groups = fleet('zoom');
  const below = layoutFleet({ groups, ...SIZE, zoom: ['region-1'] });
  assert.ok(below.leaves.length > 0);
  assert.ok(below.leaves.every((leaf) => leaf.path[0] === 'region-1'));
  assert.deepEqual(layoutFleet({ groups, ...SIZE, zoom: ['nowhere'] }).leaves, []);
});

test('a path survives its way through a URL', () => {
  const path = ['eu/1', 'ü %', ''];
  assert.deepEqual(parsePath(printPath(path)), path);
  assert.deepEqual(parsePath(''), []);
  assert.deepEqual(parsePath('%E0%A4%A'), []);
});
