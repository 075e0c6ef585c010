// Proves that the scatter's scale shows 0, undoes itself, and that a line of equal cost is one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dotAt, equalCostLevels, equalCostLine, moneyScale } from './scatter-scale.ts';

test('zero stands at the start of the axis and the largest value within it', () => {
  const scale = moneyScale([0, 0.04, 1.5, 32]);
  assert.equal(scale.place(0), 0);
  assert.ok(scale.place(32) < 1 && scale.place(32) > 0.9);
  assert.ok(scale.place(0.04) > 0.05, 'the smallest price is told from 0');
});

test('a place is turned back into its dollars', () => {
  const scale = moneyScale([0.01, 0.5, 900]);
  for (const dollars of [0, 0.01, 0.2, 7, 900]) {
    assert.ok(Math.abs(scale.value(scale.place(dollars)) - dollars) < 1e-9 * (1 + dollars));
  }
});

test('ticks are round, begin at 0 and are few', () => {
  for (const values of [[0.031, 0.9], [0.5, 4000], [3], [], [0, 0], [1e-9, 1e9]]) {
    const { ticks, max } = moneyScale(values);
    assert.equal(ticks[0], 0);
    assert.ok(ticks.length >= 2 && ticks.length <= 9, `${ticks.join()} for ${values.join()}`);
    assert.ok(ticks.every((tick, index) => index === 0 || tick > (ticks[index - 1] ?? 0)));
    assert.ok(ticks.every((tick) => tick <= max));
  }
});

test('every point of a line of equal cost has that effective cost', () => {
  const x = moneyScale([0.03, 12]);
  const y = moneyScale([0.001, 3]);
  for (const level of [...equalCostLevels(x, y), 0.7]) {
    for (const [placeX, placeY] of equalCostLine(level, x, y)) {
      assert.ok(Math.abs(x.value(placeX) + y.value(placeY) - level) < 1e-9 * (1 + level));
    }
  }
});

test('the pointer finds the smallest dot that it stands on, then the nearest', () => {
  const dots = [
    { x: 50, y: 50, radius: 30 },
    { x: 55, y: 50, radius: 4 },
    { x: 200, y: 50, radius: 4 },
  ];
  assert.equal(dotAt(dots, 56, 51, 6), 1);
  assert.equal(dotAt(dots, 30, 50, 6), 0);
  assert.equal(dotAt(dots, 208, 50, 6), 2);
  assert.equal(dotAt(dots, 120, 50, 6), -1);
});
