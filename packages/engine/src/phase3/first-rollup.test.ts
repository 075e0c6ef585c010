// Proves that nothing is reclaimed from a cluster before its first roll-up, that any roll-up that was
// read ends its silence, an empty or a held one too, and that a refused one was never heard.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionKindName } from '../model/action.ts';
import { cores, fleet, machine, need, resources } from '../testing/build.ts';
import type { Engine } from '../cycle/engine.ts';
import { loadEngine, readActions } from '../cycle/plain.ts';

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

/** Needs of so many resource names each, none twice. */
function needsOf(...counts: readonly number[]): ReturnType<typeof need>[] {
  return counts.map((count, row) => {
    const names = Array.from({ length: count }, (_, at) => [`r${row}-${at}`, 1] as const);
    return need({ wants: resources(Object.fromEntries(names)), priority: row });
  });
}

/** More than the 256 resource names that a shard holds: in one need, and in all of them together. */
const TOO_WIDE: Readonly<Record<string, ReturnType<typeof needsOf>>> = {
  'one need of 257 names': needsOf(257),
  'five needs of 60 names': needsOf(60, 60, 60, 60, 60),
};

const ways: Readonly<Record<string, (engine: Engine) => void>> = {
  'an empty roll-up': (engine) => assert.ok(engine.applyRollup('a', []).ok),
  'a roll-up that was held back': (engine) => engine.markReported('a'),
};

for (const [name, hear] of Object.entries(ways)) {
  test(`${name} ends the silence of its cluster, and only of it`, () => {
    const engine = unheard();
    hear(engine);
    assert.deepEqual(told(engine), ['Reclaim of-a']);
    assert.deepEqual([...engine.reportedClusters()], ['a']);
  });
}

for (const [name, needs] of Object.entries(TOO_WIDE)) {
  test(`a refused roll-up of ${name} leaves the cluster silent and takes no name`, () => {
    const engine = unheard();
    const before = engine.inventory.dimensions.count;
    assert.deepEqual(engine.applyRollup('a', needs), { ok: false, error: 'too_large' });
    assert.deepEqual(told(engine), []);
    assert.deepEqual([...engine.reportedClusters()], []);
    assert.equal(engine.inventory.dimensions.count, before);
  });
}

test('a refused roll-up leaves the demand of before', () => {
  const engine = unheard();
  assert.ok(engine.applyRollup('a', [need({ wants: cores(1) })]).ok);
  assert.ok(!engine.applyRollup('a', needsOf(257)).ok);
  assert.deepEqual(told(engine), []);
  assert.equal(engine.needs.rowCount, 1);
});

test('a roll-up that demands the machine keeps it', () => {
  const engine = unheard();
  assert.ok(engine.applyRollup('a', [need({ wants: cores(1) })]).ok);
  assert.deepEqual(told(engine), []);
});
