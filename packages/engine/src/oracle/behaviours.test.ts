// Proves that the oracle shows every behaviour of engine §12 that a single cycle can show, and what
// only the fold itself can show: without Same it returns its input, not a copy.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeBehaviours } from '../testing/behaviours/index.ts';
import { cores, machine, need, RACK_KEY } from '../testing/build.ts';
import { oracleCycle } from './cycle.ts';
import { foldGangs } from './normalize.ts';

describeBehaviours(oracleCycle);

test('no Same anywhere: the very list that went in', () => {
  const demand = [need({ wants: cores(1) }), need({ wants: cores(2), cluster: 'b' })];
  assert.equal(foldGangs([machine({ id: 'm', has: cores(8) })], demand), demand);
});

test('folding what was folded changes nothing', () => {
  const all = [machine({ id: 'm', has: cores(8), rack: 'r1' })];
  const gangs = ['g1', 'g2'].map((group) => need({ wants: cores(2), same: RACK_KEY, group }));
  const once = foldGangs(all, gangs);
  assert.equal(once.length, 1);
  assert.equal(foldGangs(all, once), once);
});
