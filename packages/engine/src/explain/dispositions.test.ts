// Proves what is said about actions that were held back: one sentence for every code there is, for
// a machine and for a need, nothing about what was handed over, and no claim beyond the bound.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActionKind } from '../model/action.ts';
import {
  type CycleDispositions,
  DISPOSITION_CODES,
  type DispositionCode,
} from '../record/dispositions/format.ts';
import type { DecisionRecord, RecordedAction } from '../record/format.ts';
import { explainDispositions } from './dispositions.ts';
import { decide } from './testing/decide.ts';
import { machineScenarios } from './testing/scenarios.ts';

const scenario = machineScenarios.find(({ reasonCode }) => reasonCode === 'phase3.excess');
assert.ok(scenario !== undefined);
const base = decide(scenario.input).record;
const [some] = base.actions;
assert.ok(some !== undefined);
const pattern: RecordedAction = { ...some, kind: ActionKind.Reclaim, need: -1 };

function reclaim(machineId: string, cluster = 'blue'): RecordedAction {
  return { ...pattern, machineId, cluster };
}

const record: DecisionRecord = {
  ...base,
  actions: ['m-0', 'm-1', 'm-2', 'm-3'].map((id) => reclaim(id)),
};

/** The last two actions got the code. */
function heldBack(code: DispositionCode, count = 2): CycleDispositions {
  return {
    cycle: record.cycle,
    reclaimCapFraction: 0.05,
    maxActionsPerCycle: 100,
    actionCount: record.actions.length,
    counts: new Map([[code, count]]),
    runs: [{ first: 2, count: 2, code }],
    rollups: [],
    unnamedRollupCount: 0,
  };
}

const sentences: Readonly<Record<DispositionCode, string>> = {
  deferred_reclaim_cap:
    'held back (deferred_reclaim_cap): at most 2 reclaims of cluster blue per cycle (5 % of its ' +
    'machines); it is decided again in the next cycle.',
  deferred_max_actions:
    'held back (deferred_max_actions): at most 100 actions per cycle; it is decided again in a ' +
    'cycle that follows at once.',
  deduped_pending:
    'not sent again (deduped_pending): an action for the machine is already queued or under way.',
  deduped_state:
    'not sent (deduped_state): between decision and execution the machine had moved on, was gone ' +
    'or was no longer ours to act on; the next cycle decides from what it is by then.',
  dropped_queue_full:
    'dropped (dropped_queue_full): the queue of actions was full; it is decided again in the next ' +
    'cycle.',
  provider_unreachable:
    'not sent (provider_unreachable): the provider of the machine does not answer; it is decided ' +
    'again in the next cycle.',
  suppressed:
    'not carried out (suppressed): actuation is paused: the decision was recorded and not executed.',
  dryrun:
    'not carried out (dryrun): the shard runs dry: the decision was recorded and not executed.',
};

for (const code of DISPOSITION_CODES) {
  test(`a machine that was held back: ${code}`, () => {
    const notes = explainDispositions(record, heldBack(code), { machineId: 'm-3' });
    const text = `This was decided, but ${sentences[code]}`;
    assert.deepEqual(notes, [{ code, count: 1, text }]);
  });
}

test('nothing is said about what was handed over, or about a machine without an action', () => {
  for (const machineId of ['m-0', 'm-1', 'stranger']) {
    assert.deepEqual(
      explainDispositions(record, heldBack('dropped_queue_full'), { machineId }),
      [],
    );
  }
});

test('the cap is that of the cluster of the machine', () => {
  const actions = [
    reclaim('m-0'),
    reclaim('m-1'),
    reclaim('g-0', 'green'),
    reclaim('g-1', 'green'),
  ];
  const runs = [
    { first: 1, count: 1, code: 'deferred_reclaim_cap' },
    { first: 3, count: 1, code: 'deferred_reclaim_cap' },
  ] as const;
  const notes = explainDispositions(
    { ...record, actions },
    { ...heldBack('deferred_reclaim_cap'), runs },
    { machineId: 'g-1' },
  );
  assert.match(notes[0]?.text ?? '', /at most 1 reclaim of cluster green per cycle/);
});

test('behind the bound nothing is claimed, not even the number of the cap', () => {
  const cut = { ...heldBack('deferred_reclaim_cap', 7), actionCount: 20 };
  const actions = [...record.actions, reclaim('late')];
  const late = explainDispositions({ ...record, actions }, cut, { machineId: 'late' });
  assert.deepEqual(
    late.map(({ code, count }) => [code, count]),
    [['', 5]],
  );
  assert.match(late[0]?.text ?? '', /5 are not named, and this may be among them/);
  const named = explainDispositions({ ...record, actions }, cut, { machineId: 'm-2' });
  assert.match(named[0]?.text ?? '', /at most 5 % of its machines are reclaimed from cluster blue/);
});

test('a need hears of its own actions, and of the roll-ups of its cluster', () => {
  const acquired = machineScenarios.find(({ reasonCode }) => reasonCode === 'phase1.idle');
  assert.ok(acquired !== undefined);
  const decided = decide(acquired.input).record;
  const at = decided.actions.findIndex(({ need }) => need >= 0);
  const need = decided.needs[decided.actions[at]?.need ?? -1];
  assert.ok(need !== undefined);
  const ofIt = decided.actions.filter((action) => decided.needs[action.need] === need).length;
  const dispositions: CycleDispositions = {
    ...heldBack('deferred_max_actions'),
    actionCount: decided.actions.length,
    counts: new Map([['deferred_max_actions', 1]]),
    runs: [{ first: at, count: 1, code: 'deferred_max_actions' }],
    rollups: [
      { cluster: need.cluster, code: 'bad_quantity', count: 2, detail: 'needs[0].cpu' },
      { cluster: need.cluster, code: 'rollup_quarantined', count: 1, detail: '1 rows after 40' },
      { cluster: 'another', code: 'malformed', count: 9, detail: '' },
    ],
  };
  const { cluster, fingerprint, group } = need;
  const subject = { need: { cluster, fingerprint, group } };
  const notes = explainDispositions(decided, dispositions, subject);
  assert.deepEqual(
    notes.map(({ code, count }) => `${code} ${count}`),
    ['deferred_max_actions 1', 'bad_quantity 2', 'rollup_quarantined 1'],
  );
  const [actions, refused, held] = notes.map(({ text }) => text);
  const words = `Of ${ofIt} action${ofIt === 1 ? '' : 's'} for it 1 was held back`;
  assert.ok(actions?.startsWith(words), actions);
  assert.match(
    refused ?? '',
    /2 roll-ups of the cluster were refused \(bad_quantity\): a resource/,
  );
  assert.match(held ?? '', /1 roll-up of the cluster was held .*\(1 rows after 40\)\. Its last/);
  const stranger = { need: { ...subject.need, cluster: 'nobody' } };
  assert.deepEqual(explainDispositions(decided, dispositions, stranger), []);
});
