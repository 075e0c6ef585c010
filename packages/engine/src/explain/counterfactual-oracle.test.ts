// Proves that every change that a counterfactual claims as verified really covers the need when
// the oracle decides, that exactly the named needs lose by it, and that no run is unaccounted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import type { CycleInput, CycleOutput } from '../model/cycle.ts';
import type { Need } from '../model/need.ts';
import { oracleCycle } from '../oracle/cycle.ts';
import { randomFleet } from '../testing/generate.ts';
import { applyChange } from './change.ts';
import { type Counterfactual, counterfactual, DEFAULT_MAX_RUNS } from './counterfactual.ts';
import { Coverage } from './coverage.ts';
import { executed } from './executed.ts';
import { refTo } from './testing/decide.ts';

const FLEETS = Number(process.env['BIGFLEET_FLEETS'] ?? 500);
const FIRST = Number(process.env['BIGFLEET_SEED'] ?? 1);

test(`the oracle agrees with every verified change on ${FLEETS} fleets`, () => {
  const seen = new Map<string, number>();
  for (let seed = FIRST; seed < FIRST + FLEETS; seed++) {
    // Every other fleet is plain: gangs and spreads leave little to prices.
    const options = seed % 2 === 0 ? { plain: true, unspread: true } : {};
    const input = randomFleet(createRandom(`counterfactual-${seed}`), options);
    const before = new Coverage(oracleCycle(input));
    for (const need of input.needs) {
      const answer = counterfactual(input, refTo(need));
      seen.set(answer.kind, (seen.get(answer.kind) ?? 0) + 1);
      assert.notEqual(answer.kind, 'unknown_need');
      if ('runCount' in answer) assert.ok(answer.runCount <= DEFAULT_MAX_RUNS);
      if (answer.kind !== 'changes') continue;
      assert.equal(before.isCovered(need), false, `seed ${seed}`);
      for (const found of answer.changes) {
        seen.set(found.reasonCode, (seen.get(found.reasonCode) ?? 0) + 1);
        check(input, need, found, before, `seed ${seed}, ${found.text}`);
      }
    }
  }
  // The generator reaches every kind of change: else this proves less than it says.
  if (FLEETS >= 500) assert.equal(seen.size, 3 + 7, JSON.stringify([...seen]));
});

function check(
  input: CycleInput,
  need: Need,
  found: Counterfactual,
  before: Coverage,
  where: string,
): void {
  const changed = applyChange(input, need, found.change);
  const first = oracleCycle(changed.input);
  const output: CycleOutput = found.isAfterDrains
    ? oracleCycle(executed(changed.input, first))
    : first;
  const after = new Coverage(output);
  assert.ok(after.isCovered(changed.need), where);
  assert.equal(new Coverage(first).isCovered(changed.need), !found.isAfterDrains, where);
  const broken = input.needs.filter(
    (row) => row !== need && before.isCovered(row) && !after.isCovered(row),
  );
  assert.deepEqual(found.broken, broken.map(refTo), where);
}
