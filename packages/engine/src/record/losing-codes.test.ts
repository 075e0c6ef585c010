// Proves for one small fleet per code that a candidate which lost is recorded with this very
// code, and with how many machines were chosen and left: that a code is true does not show that
// it is the one that is meant.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadEngine } from '../cycle/plain.ts';
import type { CycleInput } from '../model/cycle.ts';
import {
  acrossZones,
  cores,
  fleet,
  machines,
  need,
  RACK_KEY,
  resources,
} from '../testing/build.ts';
import { decodeRecord } from './decode.ts';
import type { DecisionRecord } from './format.ts';

function recordOf(input: CycleInput): DecisionRecord {
  const engine = loadEngine(input);
  engine.cycle({ nowMs: input.nowMs, quotaRemaining: input.quotaRemaining });
  const decoded = decodeRecord(engine.record);
  assert.ok(decoded.ok);
  return decoded.value;
}

/** `pool code chosen/left` of the last need in acquisition order. */
function candidates(input: CycleInput): string[] {
  const { needs } = recordOf(input);
  return (needs.at(-1)?.candidates ?? []).map(
    ({ pool, code, chosenCount, leftCount }) => `${pool} ${code} ${chosenCount}/${leftCount}`,
  );
}

const plain = need({ wants: cores(2) });
const spot = { price: 1, probability: 0.5 };

const cases: Readonly<Record<string, readonly [CycleInput, readonly string[]]>> = {
  costlier: [
    fleet({
      machines: [...machines(3, 'x', {}), ...machines(4, 'y', { price: 2 })],
      needs: [plain],
    }),
    ['idle chosen 2/1', 'idle costlier 0/4'],
  ],
  idle_preferred: [
    fleet({
      machines: [...machines(2, 'x', {}), ...machines(3, 'y', { state: 'Speculative' })],
      needs: [plain],
    }),
    ['idle chosen 2/0', 'speculative idle_preferred 0/3'],
  ],
  interruption_risk: [
    fleet({
      machines: [
        ...machines(4, 'x', spot),
        ...machines(3, 'y', { state: 'Speculative', price: 9 }),
      ],
      needs: [need({ wants: cores(2), interruption: 1000 })],
    }),
    ['speculative chosen 2/1', 'idle interruption_risk 0/4'],
  ],
  claimed_higher_precedence: [
    fleet({
      machines: machines(2, 'x', {}),
      needs: [plain, need({ wants: cores(2), priority: 9 })],
    }),
    ['idle claimed_higher_precedence 0/0'],
  ],
  claimed_equal_precedence: [
    fleet({
      machines: machines(2, 'x', {}),
      needs: [plain, need({ wants: cores(2), cluster: 'b' })],
    }),
    ['idle claimed_equal_precedence 0/0'],
  ],
  quota_exhausted: [
    fleet({
      machines: machines(3, 'x', { state: 'Speculative' }),
      needs: [need({ wants: cores(1), priority: 9 }), plain],
      quota: { provider: 1 },
    }),
    ['speculative quota_exhausted 0/2'],
  ],
  min_unit_too_small: [
    fleet({ machines: machines(3, 'x', {}), needs: [need({ wants: cores(2), unit: cores(2) })] }),
    ['idle min_unit_too_small 0/3'],
  ],
  infinite_cost: [
    fleet({
      machines: machines(3, 'x', spot),
      needs: [need({ wants: cores(2), interruption: Number.POSITIVE_INFINITY })],
    }),
    ['idle infinite_cost 0/3'],
  ],
  no_contribution: [
    fleet({
      machines: machines(3, 'x', { has: resources({ gpu: 1 }) }),
      needs: [plain],
    }),
    ['idle no_contribution 0/3'],
  ],
  wrong_domain: [
    fleet({
      machines: [
        ...machines(2, 'x', { rack: 'r1', zone: 'z1' }),
        ...machines(3, 'y', { rack: 'r2', zone: 'z2', price: 2 }),
      ],
      needs: [need({ same: RACK_KEY, wants: cores(2) })],
    }),
    ['idle chosen 2/0', 'idle wrong_domain 0/3'],
  ],
  spread_skew: [
    fleet({
      machines: [
        ...machines(2, 'ahead', { state: 'Configured', cluster: 'a', zone: 'z1' }),
        ...machines(1, 'behind', { state: 'Configured', cluster: 'a', zone: 'z2' }),
        ...machines(3, 'x', { zone: 'z1' }),
      ],
      needs: [need({ wants: cores(9), spread: [acrossZones(1)] })],
    }),
    ['idle spread_skew 0/3'],
  ],
};

for (const [code, [input, expected]] of Object.entries(cases)) {
  test(`a candidate that lost by ${code} says so`, () => {
    assert.deepEqual(candidates(input), expected);
  });
}
