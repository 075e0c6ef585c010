// Proves that the weights of `realistic` give the machine mix that they were solved for, in
// expectation and in a drawn population.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { printSeed, SCENARIO_SEED } from '../seeds.ts';
import { drawReplicas, steadyArchetypes, weightedPick } from './distributions.ts';
import { realistic, REALISTIC_MACHINE_PERCENT } from './realistic.ts';
import { expectedShares, podsPerMachine } from './sizing.ts';

const DENSITY = 100;
/** The table rounds to one decimal, the rarest row to two. */
const EXPECTED_TOLERANCE_POINTS = 0.06;
/** Four standard errors of the noisiest row (gpu-training-medium) at this many objects. */
const REALISED_TOLERANCE_POINTS = 0.4;
const OBJECT_COUNT = 1_000_000;

test(`expected machine mix within ${EXPECTED_TOLERANCE_POINTS} points of the table`, () => {
  const percents = new Map(
    expectedShares(realistic.archetypes, DENSITY).map(
      ({ archetype, machineShare }) => [archetype.name, machineShare * 100] as const,
    ),
  );
  assertMix(percents, EXPECTED_TOLERANCE_POINTS, 'expected');
});

test(`realised machine mix within ${REALISED_TOLERANCE_POINTS} points of the table`, () => {
  const random = createRandom(SCENARIO_SEED).stream('calibration');
  const steady = steadyArchetypes(realistic.archetypes);
  const machines = new Map<string, number>();
  let total = 0;
  for (let drawn = 0; drawn < OBJECT_COUNT; drawn++) {
    const archetype = weightedPick(random, steady);
    const filled = drawReplicas(random, archetype) / podsPerMachine(archetype, DENSITY);
    machines.set(archetype.name, (machines.get(archetype.name) ?? 0) + filled);
    total += filled;
  }
  const percents = new Map([...machines].map(([name, count]) => [name, (count / total) * 100]));
  assertMix(percents, REALISED_TOLERANCE_POINTS, printSeed(SCENARIO_SEED));
});

function assertMix(percents: ReadonlyMap<string, number>, tolerance: number, what: string): void {
  assert.equal(Object.keys(REALISTIC_MACHINE_PERCENT).length, realistic.archetypes.length);
  for (const [name, want] of Object.entries(REALISTIC_MACHINE_PERCENT)) {
    const got = percents.get(name) ?? 0;
    const message = `${what}: ${name} fills ${got.toFixed(2)} % of the machines, not ${want} %`;
    assert.ok(Math.abs(got - want) <= tolerance, message);
  }
}
