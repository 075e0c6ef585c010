// Proves which change of a need makes it another demand, and when every eligible machine is a
// contribution.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Need } from '../model/need.ts';
import { cores, need, resources } from '../testing/build.ts';
import { isAlwaysServed, isSameDemand } from './row.ts';

const base = { wants: cores(2), unit: cores(1), priority: 5, group: 'g', arrival: 7n };

test('a need is the same demand until anything of it changes', () => {
  assert.ok(isSameDemand(need(base), need(base)));
  const changes: Readonly<Record<string, Need>> = {
    aggregate: need({ ...base, wants: cores(3) }),
    'another resource': need({ ...base, wants: resources({ cpu: 2000, gpu: 1 }) }),
    'atomic unit': need({ ...base, unit: cores(2) }),
    'no atomic unit': need({ ...base, unit: resources({}) }),
    profile: need({ ...base, priority: 6 }),
    group: need({ ...base, group: 'h' }),
    arrival: need({ ...base, arrival: 8n }),
  };
  for (const [what, changed] of Object.entries(changes)) {
    assert.ok(!isSameDemand(need(base), changed), what);
    assert.ok(!isSameDemand(changed, need(base)), what);
  }
});

test('every eligible machine contributes when the unit is positive wherever the demand is', () => {
  const cases: readonly (readonly [Record<string, number>, Record<string, number>, boolean])[] = [
    [{ cpu: 4 }, { cpu: 1 }, true],
    [{ cpu: 4 }, { cpu: 1, memory: 1 }, true],
    [{ cpu: 4, memory: 4 }, { cpu: 1 }, false],
    [{ cpu: 4 }, {}, false],
    [{}, {}, true],
  ];
  for (const [wants, unit, expected] of cases) {
    const told = JSON.stringify([wants, unit]);
    const row = need({ wants: resources(wants), unit: resources(unit) });
    assert.equal(isAlwaysServed(row), expected, told);
  }
});
