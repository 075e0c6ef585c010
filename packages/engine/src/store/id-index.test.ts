// Proves that the id index finds exactly what a Map would, through growth, removal and clashes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { Columns } from './columns.ts';
import { IdIndex } from './id-index.ts';
import { hashText } from './input-digest.ts';

test('model: random adds, removes and look-ups against a Map', () => {
  const random = createRandom('id-index');
  const ids: string[] = [];
  const columns = new Columns();
  const index = new IdIndex(ids, columns);
  const model = new Map<string, number>();
  const free: number[] = [];
  for (let step = 0; step < 60_000; step++) {
    const id = `machine-${random.below(4_000)}`;
    const known = model.get(id);
    assert.equal(index.find(id), known ?? -1);
    if (known === undefined) {
      const slot = free.pop() ?? ids.length;
      columns.ensure(slot + 1);
      ids[slot] = id;
      columns.idHash[slot] = hashText(id);
      index.add(slot);
      model.set(id, slot);
    } else if (random.below(2) === 0) {
      index.remove(known);
      ids[known] = '';
      model.delete(id);
      free.push(known);
    }
    assert.equal(index.size, model.size);
  }
  for (const [id, slot] of model) assert.equal(index.find(id), slot);
});
