// Proves that the six scripted scenarios end as they must, and that their checks can fail.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CycleInput, CycleOutput } from '@bigfleet/engine';
import { printSeed } from '../seeds.ts';
import { deciders } from '../testing/deciders.ts';
import { runScenario } from './scenario.ts';
import { scriptedScenarios } from './scripted.ts';

for (const { name: decider, decide } of deciders) {
  for (const scenario of scriptedScenarios) {
    test(`${scenario.name} (${decider})`, () => {
      const { violations, seed } = runScenario(scenario, { decide });
      assert.deepEqual(violations, [], `${scenario.name}, ${printSeed(seed)}`);
    });
  }
}

test('an engine that does nothing fails every scenario but the one that ends where it began', () => {
  const idle = ({ memory }: CycleInput): CycleOutput => ({
    actions: [],
    verdicts: [],
    claims: new Map(),
    memory,
  });
  const passing = scriptedScenarios
    .filter((scenario) => runScenario(scenario, { decide: idle }).violations.length === 0)
    .map(({ name }) => name);
  assert.deepEqual(passing, ['withdrawal']);
});

test('the withdrawal really configures and reclaims', () => {
  const withdrawal = scriptedScenarios.find(({ name }) => name === 'withdrawal');
  assert.ok(withdrawal !== undefined);
  const kinds = runScenario(withdrawal).trace.events.map(
    ({ actions = [] }) => `${actions.length} ${actions[0]?.kind ?? 'nothing'}`,
  );
  assert.deepEqual(
    kinds.filter((kind) => kind !== '0 nothing'),
    ['32 Bootstrap', '32 Reclaim'],
  );
});
