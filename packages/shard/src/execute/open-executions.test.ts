// Proves how an execution ends, for every transition and every state that a machine may show next:
// one outcome, once, and none while it goes on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExecuteOutcome } from '@bigfleet/base';
import { ActionKind, isBound, type Machine, State, type StateCode } from '@bigfleet/engine';
import { machineOf } from '../engine-host/testing/random-inputs.ts';
import { nodeChange, nodeRemoval } from '../fleet/node-change.ts';
import { type ActionOrder, executionOf } from './execution.ts';
import { type EndedExecution, OpenExecutions } from './open-executions.ts';

const STATES: readonly StateCode[] = [1, 2, 3, 4, 5, 6, 7, 8];
const ends: readonly (readonly [transit: StateCode, end: StateCode])[] = [
  [State.Creating, State.Idle],
  [State.Configuring, State.Configured],
  [State.Draining, State.Idle],
  [State.Deleting, State.Speculative],
];

const at = (state: StateCode, cluster = 'blue'): Machine =>
  machineOf('host', state, isBound(state) ? cluster : '');

function order(): ActionOrder {
  return {
    kind: ActionKind.Bootstrap,
    handle: { slot: 0, generation: 1 },
    machineId: 'host',
    cluster: 'blue',
    need: undefined,
    graceSeconds: 0,
    preemptorPriority: 0,
    reason: 'phase1.idle',
    cycle: 1,
  };
}

for (const [transit, end] of ends) {
  test(`a machine that was in ${transit}: success at ${end} alone`, () => {
    for (const state of STATES) {
      let expected: ExecuteOutcome | 'goes on' = 'stale_state';
      if (state === transit) expected = 'goes on';
      if (state === end) expected = 'success';
      if (state === State.Failed) expected = 'provider_error';
      const execution = executionOf(transit, 'blue', at(state));
      assert.equal(typeof execution === 'string' ? execution : 'goes on', expected, `at ${state}`);
      if (!isBound(state)) continue;
      assert.equal(executionOf(transit, 'blue', at(state, 'green')), 'stale_state');
    }
    assert.equal(executionOf(transit, 'blue', undefined), 'stale_state');
  });
}

test('told once, by the first change that is an end', () => {
  const ended: EndedExecution[] = [];
  const open = new OpenExecutions((one) => ended.push(one));
  const first = order();
  open.begin(first, { underWay: State.Configuring }, 7, at(State.Configuring));
  open.changed(nodeChange({ ...at(State.Configuring), id: 'another' }, undefined));
  open.changed(nodeChange(at(State.Configuring), at(State.Configuring)));
  assert.deepEqual(ended, []);
  open.changed(nodeChange({ ...at(State.Failed), lastError: 'no boot' }, at(State.Configuring)));
  open.changed(nodeRemoval(at(State.Failed)));
  const expected = { order: first, outcome: 'provider_error', tookMs: 7, problem: 'no boot' };
  assert.deepEqual(ended, [expected]);
});

test('an end that came before anybody asked is told at once', () => {
  const ended: string[] = [];
  const open = new OpenExecutions(({ outcome }) => ended.push(outcome));
  open.begin(order(), { underWay: State.Configuring }, 0, at(State.Configured));
  open.begin(order(), { underWay: State.Configuring }, 0, undefined);
  assert.deepEqual(ended, ['success', 'stale_state']);
});

test('a drain that comes too late does not take the place of what came after it', () => {
  const ended: string[] = [];
  const open = new OpenExecutions(({ outcome }) => ended.push(outcome));
  const drain = { ...order(), kind: ActionKind.Reclaim };
  open.begin(drain, { underWay: State.Draining }, 0, at(State.Draining));
  assert.equal(open.takeDrain('host'), drain);
  assert.equal(open.takeDrain('host'), undefined);
  open.begin(order(), { underWay: State.Configuring }, 0, at(State.Configuring));
  assert.equal(open.takeDrain('host'), undefined);
  open.changed(nodeChange(at(State.Configured), at(State.Configuring)));
  assert.deepEqual(ended, ['success']);
});
