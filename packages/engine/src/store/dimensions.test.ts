// Proves that vectors keep their content while tables grow, rows are reused, and new resource
// names widen everything.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import type { Resources } from '../model/resources.ts';
import { Dimensions, VectorTable } from './dimensions.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'dimensions-1';

test('a name has one dimension, in order of appearance', () => {
  const dimensions = new Dimensions();
  assert.deepEqual(
    ['cpu', 'memory', 'cpu'].map((name) => dimensions.indexOf(name)),
    [0, 1, 0],
  );
  assert.equal(dimensions.count, 2);
  assert.deepEqual(
    [0, 1, 2].map((index) => dimensions.name(index)),
    ['cpu', 'memory', ''],
  );
});

test('widening keeps the content of every table', () => {
  const dimensions = new Dimensions();
  const [a, b] = [new VectorTable(dimensions), new VectorTable(dimensions)];
  const first = a.allocate();
  a.write(first, new Map([['cpu', 5]]));
  const second = b.allocate();
  b.write(second, new Map([['memory', 7]]));
  dimensions.indexOf('gpu');
  assert.equal(a.stride, 3);
  assert.equal(b.stride, 3);
  assert.deepEqual(a.read(first), new Map([['cpu', 5]]));
  assert.deepEqual(b.read(second), new Map([['memory', 7]]));
  assert.equal(b.values[second * b.stride + dimensions.indexOf('memory')], 7);
});

test('a reused row starts empty, and writing replaces', () => {
  const table = new VectorTable(new Dimensions());
  const row = table.allocate();
  table.write(row, new Map([['cpu', 1]]));
  table.write(row, new Map([['gpu', 2]]));
  assert.deepEqual(table.read(row), new Map([['gpu', 2]]));
  table.release(row);
  assert.equal(table.allocate(), row);
  assert.deepEqual(table.read(row), new Map());
});

test('a table made before there is any dimension', () => {
  const dimensions = new Dimensions();
  const table = new VectorTable(dimensions);
  const rows = Array.from({ length: 100 }, () => table.allocate());
  assert.deepEqual(table.read(rows[99] ?? -1), new Map());
  table.write(rows[99] ?? -1, new Map([['cpu', Number.MAX_SAFE_INTEGER]]));
  assert.deepEqual(table.read(rows[99] ?? -1), new Map([['cpu', Number.MAX_SAFE_INTEGER]]));
  assert.deepEqual(table.read(rows[98] ?? -1), new Map());
});

test(`agrees with plain maps over random use (seed ${SEED})`, () => {
  const random = createRandom(SEED);
  const dimensions = new Dimensions();
  const tables = [new VectorTable(dimensions), new VectorTable(dimensions)];
  const models = tables.map(() => new Map<number, Resources>());
  for (let step = 0; step < 5000; step++) {
    const which = random.below(2);
    const [table, model] = [tables[which] ?? assert.fail(), models[which] ?? assert.fail()];
    const choice = random.below(10);
    if (choice < 4) {
      const row = table.allocate();
      assert.ok(!model.has(row), 'a row in use was given away');
      model.set(row, new Map());
    } else if (choice < 8) {
      const row = [...model.keys()][random.below(Math.max(1, model.size))];
      if (row === undefined) continue;
      // A new name now and then, at most 20.
      const name = `r${random.below(1 + Math.min(20, Math.floor(step / 200)))}`;
      const content = new Map([
        [name, 1 + random.below(9)],
        ['cpu', 1 + random.below(9)],
      ]);
      table.write(row, content);
      model.set(row, content);
    } else {
      const row = [...model.keys()][random.below(Math.max(1, model.size))];
      if (row === undefined) continue;
      table.release(row);
      model.delete(row);
    }
    if (step % 250 !== 0) continue;
    tables.forEach((each, at) => {
      for (const [row, content] of models[at] ?? []) assert.deepEqual(each.read(row), content);
    });
  }
  assert.ok(dimensions.count > 10);
});
