// Proves where the time line goes under a hand, a key and a replay, and that its right end is live.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draggedTo, playedTo, steppedTo, windowOf } from './time-range.ts';

const range = { fromMs: 1_000_000, toMs: 2_000_000, oldestMs: 1_000_000 };

test('the line never reaches back further than is kept, nor is it shorter than a minute', () => {
  const cases: readonly (readonly [number, number, number, number])[] = [
    [900_000, 60_000_000, 900_000, 900_000],
    [0, 300_000, 1_700_000, 1_700_000],
    [1_999_000, 300_000, 1_940_000, 1_999_000],
  ];
  for (const [oldestMs, spanMs, fromMs, shownFromMs] of cases) {
    assert.deepEqual(windowOf(oldestMs, 2_000_000, spanMs), {
      fromMs,
      toMs: 2_000_000,
      oldestMs: shownFromMs,
    });
  }
});

test('a drag lands where the hand is, and at the right end on live', () => {
  assert.equal(draggedTo(0.25, range), 1_250_000);
  assert.equal(draggedTo(-3, range), 1_000_000);
  assert.equal(draggedTo(0.99, range), 1_990_000);
  assert.equal(draggedTo(0.997, range), 0);
  assert.equal(draggedTo(1, range), 0);
  assert.equal(draggedTo(7, range), 0);
});

test('keys step by a second or a minute and stop at both ends', () => {
  assert.equal(steppedTo('ArrowLeft', 1_500_000, range), 1_499_000);
  assert.equal(steppedTo('ArrowRight', 1_500_000, range), 1_501_000);
  assert.equal(steppedTo('PageDown', 1_500_000, range), 1_440_000);
  assert.equal(steppedTo('ArrowLeft', 1_000_200, range), 1_000_000);
  assert.equal(steppedTo('PageUp', 1_999_500, range), 0);
  assert.equal(steppedTo('Home', 1_500_000, range), 1_000_000);
  assert.equal(steppedTo('End', 1_500_000, range), 0);
  assert.equal(steppedTo('x', 1_500_000, range), null);
});

test('no hand and no key goes back before what is kept', () => {
  const young = windowOf(1_999_000.4, 2_000_000, 300_000);
  assert.equal(steppedTo('Home', 2_000_000, young), 1_999_001);
  assert.equal(steppedTo('PageDown', 1_999_500, young), 1_999_001);
  assert.equal(draggedTo(0.1, young), 1_999_001);
});

test('a replay runs into live and stays there', () => {
  assert.equal(playedTo(1_500_000, 30_000, range), 1_530_000);
  assert.equal(playedTo(1_990_000, 30_000, range), 0);
  assert.equal(playedTo(0, 30_000, range), 0);
});
