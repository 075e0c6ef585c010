// Proves that every unmet code of the engine leads to the branch that the runbook names, and that every
// branch has its words.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type UnmetCode, unmetReasons } from '@bigfleet/base';
import { AGED_CYCLES, type Branch, branchOf, TREE } from './triage-tree.ts';

const none = { idle: 0, configured: 0, speculative: 0 };

/** Of a service need, not aged, that nothing matches. */
const BY_REASON: Readonly<Record<Exclude<UnmetCode, 'satisfied'>, Branch>> = {
  awaiting_drain: 'draining',
  acquisition_parked: 'topology',
  topology_unsatisfiable: 'topology',
  no_matching_supply: 'provider-out-of-capacity',
  min_unit_too_large: 'provider-out-of-capacity',
  no_stable_supply: 'provider-out-of-capacity',
  bootstrap_refused: 'held-off',
  quota_exhausted: 'provider-not-asked',
  spread_unsatisfiable: 'topology',
  preemption_exhausted: 'provider-out-of-capacity',
  priority_starved: 'provider-out-of-capacity',
  configure_failing: 'held-off',
  type_failing: 'held-off',
};

for (const [reason, branch] of Object.entries(BY_REASON)) {
  test(`${reason} leads to ${branch}`, () => {
    assert.equal(branchOf({ reason, ageCyclesUnmet: 1, matching: none }, 'service'), branch);
  });
}

test('the table holds every unmet code', () => {
  assert.deepEqual(
    Object.keys(BY_REASON).sort(),
    Object.keys(unmetReasons)
      .filter((code) => code !== 'satisfied')
      .sort(),
  );
});

const STARVED = 'priority_starved';
const CASES: readonly (readonly [string, Parameters<typeof branchOf>, Branch])[] = [
  [
    'batch work is never serious, whatever the reason',
    [{ reason: 'no_matching_supply', ageCyclesUnmet: 500, matching: none }, 'batch'],
    'batch-only',
  ],
  [
    'batch work that drains will cover waits for them',
    [{ reason: 'awaiting_drain', ageCyclesUnmet: 1, matching: none }, 'batch'],
    'draining',
  ],
  [
    'starved beside machines that could be bought: nobody asked the provider',
    [{ reason: STARVED, ageCyclesUnmet: 1, matching: { ...none, speculative: 3 } }, 'critical'],
    'provider-not-asked',
  ],
  [
    'starved beside machines that others hold',
    [{ reason: STARVED, ageCyclesUnmet: 1, matching: { ...none, configured: 3 } }, 'critical'],
    'priority-starved',
  ],
  [
    'short for long: the binding',
    [
      { reason: STARVED, ageCyclesUnmet: AGED_CYCLES, matching: { ...none, configured: 3 } },
      'service',
    ],
    'aged',
  ],
  [
    'topology stays topology with age',
    [{ reason: 'topology_unsatisfiable', ageCyclesUnmet: 900, matching: none }, 'service'],
    'topology',
  ],
  [
    'a code of a newer shard is not lost',
    [{ reason: 'of_tomorrow', ageCyclesUnmet: 1, matching: none }, 'service'],
    'provider-out-of-capacity',
  ],
];

for (const [name, [facts, tier], branch] of CASES) {
  test(name, () => assert.equal(branchOf(facts, tier), branch));
}

test('every branch stands once in the tree, with its words', () => {
  const branches = TREE.map(({ branch }) => branch);
  assert.equal(new Set(branches).size, branches.length);
  for (const branch of [...Object.values(BY_REASON), ...CASES.map(([, , found]) => found)]) {
    assert.ok(branches.includes(branch), branch);
  }
  for (const { question, meaning, action } of TREE) {
    assert.ok(question.endsWith('?') && meaning.endsWith('.') && action.endsWith('.'));
  }
});
