// Proves the soak's invariants over some hundred cycles, scarce and plentiful, instant and staged,
// and that its checks see a broken decision. The long file runs the full length.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CycleInput, type CycleOutput, oracleCycle } from '@bigfleet/engine';
import { type Dwell, instant } from '../provider/provider-model.ts';
import { printSeed, SOAK_SEED } from '../seeds.ts';
import type { Decide } from '../step.ts';
import { deciders } from '../testing/deciders.ts';
import { Soak } from './testing/soak.ts';

const CYCLES = 280;
/** Longest hold, 60 cycles, and every operation twice. */
const SETTLE_CYCLES = 100;
const staged: Dwell = { createCycles: 3, configureCycles: 2, drainCycles: 4, deleteCycles: 1 };
const fleets = [
  { what: 'plentiful', idleCount: 100, speculativeCount: 200, clusterCount: 6 },
  { what: 'scarce', idleCount: 40, speculativeCount: 60, clusterCount: 6 },
];

for (const { name, decide } of deciders) {
  for (const [dwellName, dwell] of [
    ['instant', instant],
    ['staged', staged],
  ] as const) {
    for (const { what, ...fleet } of fleets) {
      test(`soak: ${what}, ${dwellName} (${name}, ${printSeed(SOAK_SEED)})`, () => {
        const soak = new Soak({ decide, dwell, ...fleet });
        while (soak.cycle < CYCLES) soak.runCycle();
        soak.settle(SETTLE_CYCLES);
        assert.deepEqual(soak.endViolations(), [], printSeed(soak.seed));
        assert.ok(soak.actionCount > 500, `only ${soak.actionCount} actions`);
      });
    }
  }
}

const broken: readonly (readonly [string, (output: CycleOutput) => CycleOutput])[] = [
  ['a claim is dropped', (output) => ({ ...output, claims: new Map([...output.claims].slice(1)) })],
  [
    'a claim of nothing',
    (output) => ({ ...output, claims: new Map([...output.claims, ['nobody', 0]]) }),
  ],
  [
    'a need counts a machine too many',
    (output) => ({
      ...output,
      verdicts: output.verdicts.map((verdict) => ({
        ...verdict,
        claimedCount: verdict.claimedCount + 1,
      })),
    }),
  ],
  [
    'a need says that it is covered',
    (output) => ({
      ...output,
      verdicts: output.verdicts.map((verdict) => ({
        ...verdict,
        satisfied: true,
        deficit: new Map(),
      })),
    }),
  ],
  [
    'an action for a machine twice',
    (output) => ({ ...output, actions: [...output.actions, ...output.actions] }),
  ],
];

for (const [what, spoil] of broken) {
  test(`a broken decision is seen: ${what}`, () => {
    const decide: Decide = (input: CycleInput) => spoil(oracleCycle(input));
    // So few machines that demand is soon unmet.
    const soak = new Soak({ decide, idleCount: 4, speculativeCount: 4, clusterCount: 2 });
    const run = (): void => {
      for (let cycle = 0; cycle < 30; cycle++) soak.runCycle();
    };
    assert.throws(run, { name: 'AssertionError' });
  });
}

test('a machine left in transition is seen at the end', () => {
  const soak = new Soak({
    dwell: { ...instant, configureCycles: 50 },
    idleCount: 10,
    speculativeCount: 10,
    clusterCount: 1,
  });
  soak.runCycle();
  assert.notDeepEqual(soak.endViolations(), []);
});
