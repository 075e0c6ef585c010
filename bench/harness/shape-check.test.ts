// Proves that a bench which built something else than it states is caught.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shapeProblems } from './shape-check.ts';

test('stated and observed agree', () => {
  const stated = { machines: 500, needs: { min: 10 }, racks: { max: 8 }, kind: 'steady' };
  const observed = { machines: 500, needs: 10, racks: 8, kind: 'steady', further: 1 };
  assert.deepEqual(shapeProblems(stated, observed), []);
});

const wrong: readonly [Parameters<typeof shapeProblems>, RegExp][] = [
  [[{ machines: 500 }, { machines: 499 }], /machines: stated 500, built 499/],
  [[{ machines: 500 }, {}], /machines: .* counts none/],
  [[{ needs: { min: 10 } }, { needs: 9 }], /needs: stated 10 to …, built 9/],
  [[{ needs: { max: 10 } }, { needs: 11 }], /needs: stated … to 10, built 11/],
  [[{ needs: { min: 1 } }, { needs: 'many' }], /built many/],
  [[{ needs: { min: 1 } }, { needs: Number.NaN }], /built NaN/],
];

test('each difference is one line', () => {
  for (const [[stated, observed], expected] of wrong) {
    const problems = shapeProblems(stated, observed);
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', expected);
  }
});
