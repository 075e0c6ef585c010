// Proves rail 2: a roll-up that drops almost everything is believed only when it says so for the
// third time in a row.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RollupGuard } from './rollup-guard.ts';

const seed = Number(process.env['BIGFLEET_SEED'] ?? 1);

/** `A` accepted, `A3` accepted at the third time of asking, `H1` held for the first time. */
function verdicts(guard: RollupGuard, rowCounts: readonly number[], cluster = 'a'): string {
  return rowCounts
    .map((rowCount) => {
      const verdict = guard.check(cluster, rowCount);
      if (verdict.kind === 'held') return `H${verdict.consecutive}`;
      return verdict.confirmedAfter === 0 ? 'A' : `A${verdict.confirmedAfter}`;
    })
    .join(' ');
}

test('tables of roll-ups and what becomes of each', () => {
  const rows: readonly [rowCounts: readonly number[], expected: string, why: string][] = [
    [[0], 'A', 'the first ever is accepted, whatever its size'],
    [[100, 0, 0, 0], 'A H1 H2 A3', 'hold, hold, accept'],
    [[100, 0, 0, 0, 0], 'A H1 H2 A3 A', 'then zero is the baseline'],
    [[100, 0, 50, 4, 4, 4], 'A H1 A H1 H2 A3', 'recovery resets the streak, moves the baseline'],
    [[100, 0, 0, 100, 0, 0, 0], 'A H1 H2 A H1 H2 A3', 'recovery at the last moment'],
    [[100, 0, 5, 9, 0], 'A H1 H2 A3 A', 'held ones may differ; nine rows are under the floor'],
    [[9, 0], 'A A', 'below ten rows anything goes'],
    [[10, 0], 'A H1', 'the floor is ten'],
    [[10, 1], 'A A', 'a tenth is not less than a tenth'],
    [[11, 1], 'A H1', 'one of eleven is'],
    [[100, 10, 0], 'A A H1', 'a tenth is kept, and is the new baseline'],
    [[100, 9], 'A H1', 'one less is held'],
    [[40, 20, 8, 0], 'A A A A', 'a gradual decline is never held'],
    [[100, 0, 99, 9, 0], 'A H1 A H1 H2', 'the baseline is the last accepted one'],
    [[1000, 50, 50, 99], 'A H1 H2 A3', 'it does not move while holding'],
  ];
  for (const [rowCounts, expected, why] of rows) {
    assert.equal(verdicts(new RollupGuard(), rowCounts), expected, why);
  }
});

test('clusters are guarded apart, and the gauge shows the streak', () => {
  const guard = new RollupGuard();
  assert.equal(verdicts(guard, [100, 0], 'a'), 'A H1');
  assert.equal(verdicts(guard, [100, 0, 0], 'b'), 'A H1 H2');
  assert.deepEqual([guard.heldCount('a'), guard.heldCount('b'), guard.heldCount('c')], [1, 2, 0]);
  assert.equal(verdicts(guard, [0], 'b'), 'A3');
  assert.deepEqual([guard.heldCount('a'), guard.heldCount('b')], [1, 0]);
});

test('a forgotten cluster starts afresh', () => {
  const guard = new RollupGuard();
  assert.equal(verdicts(guard, [100, 0]), 'A H1');
  guard.forget('a');
  assert.equal(guard.heldCount('a'), 0);
  assert.equal(verdicts(guard, [0, 100, 0]), 'A A H1');
});

test(`suspicion is exact in integers, without rounding of a tenth (seed ${seed})`, () => {
  fc.assert(
    fc.property(fc.nat(1_000_000), fc.integer({ min: -2, max: 2 }), (baseline, off) => {
      const rowCount = Math.max(0, Math.floor(baseline / 10) + off);
      const guard = new RollupGuard();
      guard.check('a', baseline);
      const isHeld = guard.check('a', rowCount).kind === 'held';
      assert.equal(isHeld, baseline >= 10 && rowCount * 10 < baseline);
    }),
    { seed, numRuns: 20_000 },
  );
});
