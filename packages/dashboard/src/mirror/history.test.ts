// Proves that what a bound drops is let go at once: steps of history and decisions that nobody can ask for any more
// are not held until some list has doubled.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { realRuntime } from '@bigfleet/base/real';
import { createFleet } from '../model/index.ts';
import { nobodyOutside, SMALL, SyntheticFleet } from '../testing/synthetic-fleet.ts';
import { History, HistoryBudget } from './history.ts';

const START_MS = 1_700_000_000_000;

async function liveCount(refs: readonly WeakRef<object>[]): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // What was looked at in a turn lives until its end.
  for (let turn = 0; turn < 3; turn++) {
    await realRuntime().timers.turn();
    collect();
  }
  return refs.filter((ref) => ref.deref() !== undefined).length;
}

test('a step that the budget drops is let go', async () => {
  const budget = new HistoryBudget(20_000, 3_600_000);
  const history = new History<object>(budget);
  const heads: WeakRef<object>[] = [];
  for (let at = 0; at < 500; at++) {
    const head = { at };
    heads.push(new WeakRef(head));
    history.push({ atMs: START_MS + at, head, rows: new Uint8Array(40), needs: [] }, 0);
    budget.trim(START_MS + at);
  }
  const kept = [...history.all()].length;
  assert.ok(kept > 50 && kept < 200, `${kept} steps are kept`);
  assert.equal(await liveCount(heads), kept);
});

test('a decision that the bound drops is let go', async () => {
  const synthetic = new SyntheticFleet(SMALL);
  const fleet = createFleet({
    nowMs: () => START_MS,
    isSimulated: true,
    outside: nobodyOutside,
    limits: { decisions: 50 },
  });
  const decisions: WeakRef<object>[] = [];
  fleet.subscribe((event) => {
    if (event.name === 'decision') decisions.push(new WeakRef(event.data));
  });
  synthetic.begin(fleet, START_MS);
  for (let cycle = 1; cycle <= 150; cycle++) synthetic.step(START_MS + cycle * 10_000);
  assert.ok(decisions.length > 100, `${decisions.length} decisions`);
  assert.equal(fleet.sizes().decisions, 50);
  assert.equal(await liveCount(decisions), 50);
});
