// Proves that nothing is reclaimed from a cluster before its first roll-up, and that any roll-up
// ends its silence: an empty one, one that is held back, and one that is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionKindName } from '../model/action.ts';
import { cores, fleet, machine, need, resources } from '../testing/build.ts';
import type { Engine } from './engine.ts';
import { loadEngine, readActions } from './plain.ts';

function unheard(): Engine {
  const bound = { state: 'Configured' } as const;
  const machines = ['a', 'b'].map((cluster) => machine({ ...bound, id: `of-${cluster}`, cluster }));
  const engine = loadEngine(fleet({ machines, reported: [] }));
  engine.cycle({ nowMs: 1 });
  assert.deepEqual(told(engine), []);
  return engine;
}

function told(engine: Engine): string[] {
  engine.cycle({ nowMs: engine.cycleCount + 1 });
  return readActions(engine).map((action) => `${actionKindName(action.kind)} ${action.machineId}`);
}

/** A need that names more resources than the 256 that a shard holds. */
function tooWide(): ReturnType<typeof need> {
  const names = Array.from({ length: 257 }, (_, at) => [`r${at}`, 1] as const);
  return need({ wants: resources(Object.fromEntries(names)) });
}

const ways: Readonly<Record<string, (engine: Engine) => void>> = {
  'an empty roll-up': (engine) => assert.ok(engine.applyRollup('a', []).ok),
  'a roll-up that was held back': (engine) => engine.markReported('a'),
  'a roll-up that was refused': (engine) => assert.ok(!engine.applyRollup('a', [tooWide()]).ok),
};

for (const [name, hear] of Object.entries(ways)) {
  test(`${name} ends the silence of its cluster, and only of it`, () => {
    const engine = unheard();
    hear(engine);
    assert.deepEqual(told(engine), ['Reclaim of-a']);
    assert.deepEqual([...engine.reportedClusters()], ['a']);
  });
}

test('a roll-up that demands the machine keeps it', () => {
  const engine = unheard();
  assert.ok(engine.applyRollup('a', [need({ wants: cores(1) })]).ok);
  assert.deepEqual(told(engine), []);
});
