// Proves that every story of the playground ends as it says under every decider and from several seeds, that
// a decider that does nothing is found out, and that the same seed gives the same actions.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CycleInput, CycleOutput } from '@bigfleet/engine';
import { IncrementalEngine } from '../incremental-engine.ts';
import { scriptedScenarios } from '../scenarios/scripted.ts';
import { printSeed, SCENARIO_SEED } from '../seeds.ts';
import type { Decide } from '../step.ts';
import { asWritten, type WatchSettings } from './settings.ts';
import { watchedScenarios } from './watched-scenarios.ts';
import type { WatchedScenario, WatchedWorld } from './watched-world.ts';

function run(
  scenario: WatchedScenario,
  decide: Decide,
  seed: bigint,
  settings = asWritten,
): WatchedWorld {
  const world = scenario.open({ decide, seed, settings });
  while (world.step() !== undefined);
  return world;
}

for (const scenario of watchedScenarios) {
  for (const seed of [SCENARIO_SEED, 1n, 2n]) {
    test(`${scenario.id} ends as it says (${printSeed(seed)})`, () => {
      const world = run(scenario, new IncrementalEngine().decide, seed);
      assert.deepEqual(world.violations(), []);
    });
  }
}

test('every scripted scenario has its words', () => {
  const ids = new Set(watchedScenarios.map(({ id }) => id));
  assert.deepEqual(
    scriptedScenarios.filter(({ name }) => !ids.has(name)).map(({ name }) => name),
    [],
  );
});

test('a decider that does nothing is found out, except where the end is the beginning', () => {
  const idle = ({ memory }: CycleInput): CycleOutput => ({
    actions: [],
    verdicts: [],
    claims: new Map(),
    memory,
  });
  const unnoticed = watchedScenarios
    .filter((scenario) => run(scenario, idle, 1n).violations().length === 0)
    .map(({ id }) => id);
  assert.deepEqual(unnoticed, ['sandbox', 'withdrawal']);
});

function hashes(scenario: WatchedScenario, seed: bigint, settings: WatchSettings): string[] {
  const engine = new IncrementalEngine();
  const world = scenario.open({ decide: engine.decide, seed, settings });
  const found: string[] = [];
  while (world.step() !== undefined) found.push(engine.actionHash);
  return found;
}

test('one seed is one run, and another seed or another setting is another', () => {
  const [sandbox] = watchedScenarios;
  assert.ok(sandbox !== undefined);
  const first = hashes(sandbox, 7n, asWritten);
  assert.deepEqual(hashes(sandbox, 7n, asWritten), first);
  assert.notDeepEqual(hashes(sandbox, 8n, asWritten), first);
  assert.notDeepEqual(hashes(sandbox, 7n, { ...asWritten, demand: 1.5 }), first);
});
