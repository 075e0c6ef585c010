// Proves that no drain is lost between its operator and a pool that is full: it is offered again
// until it is taken, and not at all once the machine has moved on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActionKind } from '@bigfleet/engine';
import type { DrainStart } from '../drain/drain-waits.ts';
import type { DrainRequest } from '../drain/instructions.ts';
import type { ActionOrder } from '../execute/execution.ts';
import type { DrainNotice } from '../execute/ports.ts';
import { OperatorDrainDesk } from './drain-desk.ts';

interface Desk {
  readonly desk: OperatorDrainDesk;
  readonly taken: { readonly order: ActionOrder; readonly graceSeconds: number }[];
  readonly begun: DrainRequest[];
  readonly left: string[];
  readonly told: string[];
  readonly due: string[];
  room: number;
}

function deskWith(start: DrainStart): Desk {
  const state: Omit<Desk, 'desk'> = {
    taken: [],
    begun: [],
    left: [],
    told: [],
    due: [],
    room: 0,
  };
  const waits = {
    begin: (request: DrainRequest) => (state.begun.push(request), start),
    leave: (machineId: string) => void state.left.push(machineId),
    hold: () => void state.told.push('hold'),
    resume: () => void state.told.push('resume'),
    abandon: () => void state.told.push('abandon'),
  };
  const desk = new OperatorDrainDesk({
    waits,
    offer: (order, graceSeconds) => {
      if (state.room === 0) return false;
      state.room -= 1;
      state.taken.push({ order, graceSeconds });
      return true;
    },
    onDue: (machineId) => state.due.push(machineId),
  });
  return Object.assign(state, { desk });
}

const notice = (
  machineId: string,
  reasonCode: DrainNotice['reasonCode'] = 'phase3.excess',
): DrainNotice => ({
  handle: { slot: 3, generation: 1 },
  machineId,
  cluster: 'blue',
  graceSeconds: 600,
  preemptorPriority: 0,
  reasonCode,
});
const fired = (machineId: string) =>
  ({
    kind: 'Reclaim',
    machineId,
    cluster: 'blue',
    graceSeconds: 42,
    outcome: 'empty',
    reasonCode: 'phase3.excess',
  }) as const;

const WAITING: DrainStart = { kind: 'waiting', deadlineMs: 1 };

test('a full pool is offered again, oldest first, and each drain once', () => {
  const stage = deskWith(WAITING);
  for (const id of ['a', 'b']) assert.equal(stage.desk.begin(notice(id)), 'operator_first');
  stage.desk.fired(fired('a'));
  stage.desk.fired(fired('b'));
  assert.equal(stage.taken.length, 0);
  stage.room = 1;
  stage.desk.offerDue();
  assert.deepEqual(
    stage.taken.map(({ order, graceSeconds }) => [order.machineId, graceSeconds]),
    [['a', 42]],
  );
  stage.room = 5;
  stage.desk.offerDue();
  stage.desk.offerDue();
  assert.deepEqual(
    stage.taken.map(({ order }) => order.machineId),
    ['a', 'b'],
  );
  assert.deepEqual(stage.taken[0]?.order.handle, { slot: 3, generation: 1 });
});

test('a machine that moved on is offered no more, and its wait ends', () => {
  const stage = deskWith(WAITING);
  stage.desk.begin(notice('a'));
  stage.desk.fired(fired('a'));
  stage.desk.leave('a');
  stage.room = 1;
  stage.desk.offerDue();
  assert.equal(stage.taken.length, 0);
  assert.deepEqual(stage.left, ['a']);
});

test('a preemption stays one, whatever the priority of who preempts', () => {
  const stage = deskWith(WAITING);
  stage.room = 1;
  stage.desk.begin(notice('a', 'phase2.inversion'));
  stage.desk.fired(fired('a'));
  assert.equal(stage.begun[0]?.kind, 'Preempt');
  assert.equal(stage.taken[0]?.order.kind, ActionKind.Preempt);
});

test('without an operator that reports completion it is the provider at once', () => {
  const stage = deskWith({ kind: 'call_provider', graceSeconds: 600, because: 'no_session' });
  assert.equal(stage.desk.begin(notice('a')), 'provider_now');
});

test('the provider is due when the pool took the drain, not when the operator was done', () => {
  const stage = deskWith(WAITING);
  stage.desk.begin(notice('a'));
  stage.desk.fired(fired('a'));
  assert.deepEqual(stage.due, []);
  stage.room = 1;
  stage.desk.resume();
  assert.deepEqual(stage.told, ['resume']);
  assert.deepEqual(stage.due, ['a']);
});

test('abandoned, nothing is offered any more', () => {
  const stage = deskWith(WAITING);
  for (const id of ['a', 'b']) stage.desk.begin(notice(id));
  stage.desk.fired(fired('a'));
  stage.desk.abandon();
  stage.room = 5;
  stage.desk.offerDue();
  stage.desk.resume();
  assert.deepEqual(stage.taken, []);
  assert.deepEqual(stage.told, ['abandon', 'resume']);
});
