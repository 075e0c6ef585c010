// Proves the engine's own guards: the scheduled safety pass, what it does about a missed change,
// and that a steady engine goes quiet.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActionKind } from '../model/action.ts';
import { cores, fleet, machine, machines, need } from '../testing/build.ts';
import type { EnginePhase } from './engine.ts';
import { loadEngine, readActions } from './plain.ts';

function loaded() {
  const demand = need({ cluster: 'a', wants: cores(4) });
  const other = need({ cluster: 'b', wants: cores(1) });
  return loadEngine(
    fleet({
      machines: [
        ...machines(4, 'bound', { state: 'Configured', cluster: 'a', has: cores(1) }),
        machine({ id: 'other', state: 'Configured', cluster: 'b', has: cores(1) }),
        machine({ id: 'third', state: 'Configured', cluster: 'c', has: cores(1) }),
        machine({ id: 'spare', state: 'Idle', has: cores(1) }),
      ],
      needs: [demand, other, need({ cluster: 'c', wants: cores(1) })],
    }),
  );
}

test('every hundredth cycle evaluates everything again and agrees', () => {
  const engine = loaded();
  for (let cycle = 1; cycle <= 200; cycle++) {
    engine.cycle({ nowMs: cycle });
    assert.equal(engine.actions.length, 0);
    assert.equal(engine.pass === 'safety', cycle % 100 === 0, `cycle ${cycle}`);
  }
  assert.equal(engine.mismatchCount, 0);
});

test('the end of each phase is told, twice in a safety pass', () => {
  const told: EnginePhase[] = [];
  const input = fleet({ machines: [], needs: [need({ cluster: 'a', wants: cores(1) })] });
  const engine = loadEngine(input, { onPhaseEnd: (phase) => told.push(phase) });
  const passes: number[] = [];
  for (let cycle = 1; cycle <= 100; cycle++) {
    told.length = 0;
    engine.cycle({ nowMs: cycle });
    const once = ['phase1', 'phase2', 'phase3'];
    assert.deepEqual(told, engine.pass === 'safety' ? [...once, ...once] : once, `cycle ${cycle}`);
    passes.push(told.length);
  }
  assert.equal(passes.at(-1), 6);
});

test('a change that was never marked is found, counted and healed', () => {
  const engine = loaded();
  for (let cycle = 1; cycle < 50; cycle++) engine.cycle({ nowMs: cycle });
  engine.inventory.remove('bound1');
  // What a bug in the marking would do.
  engine.inventory.dirtyClusters.clear();
  for (let cycle = 50; cycle < 100; cycle++) {
    engine.cycle({ nowMs: cycle });
    assert.equal(engine.actions.length, 0);
  }
  engine.cycle({ nowMs: 100 });
  assert.equal(engine.mismatchCount, 1);
  assert.deepEqual(
    readActions(engine).map(({ kind, machineId }) => [kind, machineId]),
    [[ActionKind.Bootstrap, 'spare']],
  );
  engine.cycle({ nowMs: 101 });
  assert.equal(engine.pass, 'full');
});

test('a record is written each cycle and only mentions what happened', () => {
  const engine = loaded();
  engine.cycle({ nowMs: 1 });
  const quiet = engine.record.length;
  engine.inventory.remove('bound1');
  engine.cycle({ nowMs: 2 });
  assert.ok(engine.record.length > quiet);
});
