// Proves that Phase 2 tells of every machine that it visits for a need, once, with its fate: what
// it takes, what it ranks and does not need, what it must not take.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CycleInput } from '../model/cycle.ts';
import { decide } from '../explain/testing/decide.ts';
import { cores, fleet, machine, machines, need, resources } from '../testing/build.ts';

/** `code ids` of the bound machines looked at for cluster a, those visited first. */
function told(input: CycleInput): string[] {
  const recorded = decide(input).record.needs.find(({ cluster }) => cluster === 'a');
  return (recorded?.victims ?? []).map(({ code, machineIds }) => `${code} ${machineIds.join(' ')}`);
}

const short = need({ cluster: 'a', wants: cores(1), priority: 5 });
const low = need({ cluster: 'l', wants: cores(2), priority: 1 });
const dear = need({ cluster: 'd', wants: cores(1), priority: 1, reclamation: 8 });
const graphics = need({ cluster: 'g', wants: resources({ gpu: 1000 }), priority: 1 });
const bound = { state: 'Configured' } as const;

test('what was not needed is told behind what was taken, best first', () => {
  const input = fleet({
    machines: [
      ...machines(2, 'v', { ...bound, serves: low }),
      machine({ id: 'w', ...bound, serves: dear }),
      machine({ id: 'x', ...bound, serves: graphics, has: resources({ gpu: 1000 }), type: 'x' }),
    ],
    needs: [short, low, dear, graphics],
  });
  assert.deepEqual(told(input), [
    'chosen v1',
    'victim_score_lower v2',
    'no_contribution x',
    'victim_score_lower w',
  ]);
});

test('what another need picked in this pass is told as taken', () => {
  const first = need({ cluster: 'b', wants: cores(1), priority: 9 });
  const input = fleet({
    machines: machines(2, 'v', { ...bound, serves: low }),
    needs: [short, first, low],
  });
  assert.deepEqual(told(input), ['chosen v2', 'victim_taken v1']);
});
