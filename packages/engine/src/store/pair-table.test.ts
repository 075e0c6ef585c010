// Proves that the table holds what a Map of pairs holds, over fillings of every size.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { PairTable } from './pair-table.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'pairs-1';

test('it answers as a Map does, and forgets everything when it is cleared', () => {
  const random = createRandom(SEED);
  const table = new PairTable();
  for (let filling = 0; filling < 60; filling++) {
    table.clear();
    const model = new Map<string, number>();
    const span = 1 + random.below(60);
    for (let step = 0; step < 400; step++) {
      const first = random.below(span) - 1;
      const second = random.below(span) * 65_536;
      assert.equal(table.get(first, second), model.get(`${first}|${second}`) ?? 0, `seed ${SEED}`);
      if (random.below(2) === 0) continue;
      table.set(first, second, step + 1);
      model.set(`${first}|${second}`, step + 1);
    }
  }
});
