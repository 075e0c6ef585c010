// Proves that the waits end when they should, tell what they saw last, skip failed reads, multiply
// by the time scale, and that a watch that saw nothing does not pass.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from './endpoint.ts';
import type { MachineView, State } from './machine.ts';
import { mustReach, neverReaches, read, staysIn } from './reach.ts';
import { alone } from './testing/alone.ts';
import { machineView } from './testing/scripted.ts';
import { distinctInOrder, watch } from './trace.ts';

const lost: Answer<MachineView> = { ok: false, code: 'UNAVAILABLE', message: 'gone' };

/** Answers one per Get; the last one for ever. */
function getsOf(...states: readonly (State | 'lost')[]): () => Promise<Answer<MachineView>> {
  let at = 0;
  return async () => {
    const state = states[Math.min(at++, states.length - 1)] ?? 'lost';
    if (state === 'lost') return lost;
    return { ok: true, value: machineView({ state, lastError: state === 'FAILED' ? 'why' : '' }) };
  };
}

test('mustReach polls through failed reads and stops at the state', async () => {
  const { context, time, run } = alone({ get: getsOf('CREATING', 'lost', 'CREATING', 'IDLE') });
  const machine = await run(() => mustReach(context, 'm-1', 'IDLE'));
  assert.equal(machine.state, 'IDLE');
  assert.equal(time.nowMs, 60);
});

test('mustReach tells the last state, and gives up at FAILED at once', async () => {
  const stuck = alone({ get: getsOf('CREATING') }, { timeScale: 2 });
  await assert.rejects(
    stuck.run(() => mustReach(stuck.context, 'm-1', 'IDLE', 1_000)),
    /m-1: expected to reach IDLE, after 2000 ms it is CREATING/,
  );
  assert.equal(stuck.time.nowMs, 2_000, 'the time scale multiplies the wait');
  const failed = alone({ get: getsOf('CREATING', 'FAILED') });
  await assert.rejects(
    failed.run(() => mustReach(failed.context, 'm-1', 'IDLE')),
    /it is FAILED \(last_error "why"\)/,
  );
  assert.equal(failed.time.nowMs, 20);
  const silent = alone({ get: getsOf('lost') });
  await assert.rejects(
    silent.run(() => mustReach(silent.context, 'm-1', 'IDLE')),
    /unreadable \(every Get failed\)/,
  );
});

test('windows fail on the first wrong sample, and when there was no sample', async () => {
  const cases = [
    { gets: getsOf('IDLE'), passes: true },
    { gets: getsOf('IDLE', 'lost', 'IDLE'), passes: true },
    { gets: getsOf('IDLE', 'IDLE', 'CONFIGURING'), passes: false },
    { gets: getsOf('lost'), passes: false },
  ];
  for (const { gets, passes } of cases) {
    const stays = alone({ get: gets });
    const outcome = stays.run(() => staysIn(stays.context, 'm-1', 'IDLE', 300));
    if (passes) await outcome;
    else await assert.rejects(outcome, /m-1: (expected to stay IDLE, is CONFIGURING|no Get)/);
  }
  const never = alone({ get: getsOf('IDLE', 'DRAINING') });
  await assert.rejects(
    never.run(() => neverReaches(never.context, 'm-1', ['DRAINING'], 300)),
    /expected not to become DRAINING/,
  );
  const silent = alone({ get: getsOf('lost') });
  await assert.rejects(
    silent.run(() => neverReaches(silent.context, 'm-1', ['DRAINING'], 300)),
    /no Get succeeded/,
  );
});

test('a Get that answers with another machine is a finding', async () => {
  const { context, run } = alone({ get: getsOf('IDLE') });
  await assert.rejects(
    run(() => read(context, 'other')),
    /Get other: answered with the record of "m-1"/,
  );
});

test('a trace is ordered, without repetition, begins with the ack and ends at its target', async () => {
  const { context, time, run } = alone({
    get: getsOf('CONFIGURING', 'lost', 'CONFIGURING', 'CONFIGURED'),
  });
  const ack = { operationId: 'op', machine: machineView({ state: 'IDLE' }) };
  const samples = await run(() => watch(context, { machineId: 'm-1', until: 'CONFIGURED', ack }));
  assert.deepEqual(distinctInOrder(samples), ['IDLE', 'CONFIGURING', 'CONFIGURED']);
  assert.equal(time.nowMs, 3, 'polled each millisecond');
});

test('a trace that never arrives names the way it went', async () => {
  for (const [gets, pattern] of [
    [getsOf('CONFIGURING', 'IDLE'), /is IDLE after CONFIGURING → IDLE/],
    [getsOf('CONFIGURING', 'FAILED'), /is FAILED \(last_error "why"\) after CONFIGURING → FAILED/],
    [getsOf('lost'), /after no successful Get/],
  ] as const) {
    const { context, run } = alone({ get: gets });
    const watched = run(() =>
      watch(context, { machineId: 'm-1', until: 'CONFIGURED', withinMs: 50 }),
    );
    await assert.rejects(watched, pattern);
  }
});

test('a long wait keeps distinct samples only, but every change of the binding', async () => {
  let at = 0;
  const { context, run } = alone({
    get: async () => {
      const metadata = new Map(at < 200 ? [] : [['late', 'yes']]);
      const state = at++ < 400 ? 'CONFIGURING' : 'CONFIGURED';
      return { ok: true, value: machineView({ state, metadata }) };
    },
  });
  const samples = await run(() => watch(context, { machineId: 'm-1', until: 'CONFIGURED' }));
  assert.deepEqual(
    samples.map(({ state, metadata }) => [state, metadata.size]),
    [
      ['CONFIGURING', 0],
      ['CONFIGURING', 1],
      ['CONFIGURED', 1],
    ],
  );
  assert.deepEqual(distinctInOrder(samples), ['CONFIGURING', 'CONFIGURED']);
});
