// Proves that deadlines and waits end for the right reason, at the right time, and leave neither
// a timer nor a listener behind, whichever way they end.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { deadlineOf, orAborted, runWithDeadline, sleep, withDeadline } from './deadline.ts';
import { BigFleetError } from './errors/bigfleet-error.ts';
import { drainMicrotasks } from './runtime/real.ts';
import { createVirtualRuntime, type VirtualRuntime } from './runtime/virtual.ts';

const createVirtual = (): VirtualRuntime =>
  createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });

function assertClean(virtual: VirtualRuntime, parent?: AbortSignal): void {
  assert.equal(virtual.pendingTimers, 0, 'a timer is left');
  if (parent) assert.equal(getEventListeners(parent, 'abort').length, 0, 'a listener is left');
}

test('a deadline aborts on time with deadline_exceeded', async () => {
  const virtual = createVirtual();
  const parent = new AbortController();
  const { signal } = withDeadline(virtual.runtime, 100, parent.signal);
  await virtual.runUntil(99);
  assert.equal(signal.aborted, false);
  await virtual.runUntil(100);
  assert.equal(signal.aborted, true);
  assert.ok(signal.reason instanceof BigFleetError);
  assert.equal(signal.reason.code, 'deadline_exceeded');
  assert.equal(signal.reason.fields['ms'], 100);
  assertClean(virtual, parent.signal);
});

test('a signal tells its deadline: its own or the parent’s, whichever is earlier', async () => {
  const virtual = createVirtual();
  await virtual.runUntil(10);
  const outer = withDeadline(virtual.runtime, 100);
  assert.equal(deadlineOf(outer.signal), 110);
  assert.equal(deadlineOf(withDeadline(virtual.runtime, 50, outer.signal).signal), 60);
  assert.equal(deadlineOf(withDeadline(virtual.runtime, 500, outer.signal).signal), 110);
  const plain = new AbortController().signal;
  assert.equal(deadlineOf(withDeadline(virtual.runtime, 50, plain).signal), 60);
  assert.equal(deadlineOf(plain), undefined);
});

test('the parent aborts it earlier, with the parent’s reason', () => {
  const virtual = createVirtual();
  const parent = new AbortController();
  const { signal } = withDeadline(virtual.runtime, 100, parent.signal);
  parent.abort('stop');
  assert.equal(signal.reason, 'stop');
  assertClean(virtual, parent.signal);
});

test('an aborted parent aborts it at once', () => {
  const virtual = createVirtual();
  const { signal, dispose } = withDeadline(virtual.runtime, 100, AbortSignal.abort('gone'));
  assert.equal(signal.reason, 'gone');
  dispose();
  assertClean(virtual);
});

test('dispose releases everything and aborts nothing', async () => {
  const virtual = createVirtual();
  const parent = new AbortController();
  const deadlines = Array.from({ length: 100 }, () =>
    withDeadline(virtual.runtime, 100, parent.signal),
  );
  for (const deadline of deadlines) {
    deadline.dispose();
    deadline.dispose();
  }
  assertClean(virtual, parent.signal);
  parent.abort();
  await virtual.runUntil(200);
  assert.ok(deadlines.every((deadline) => !deadline.signal.aborted));
});

test('runWithDeadline returns, throws, times out, and cleans up in each case', async () => {
  const virtual = createVirtual();
  const parent = new AbortController();
  const { runtime } = virtual;
  const options = { ms: 50, parent: parent.signal };
  assert.equal(await runWithDeadline(runtime, options, async () => 'done'), 'done');
  assertClean(virtual, parent.signal);

  const failing = runWithDeadline(runtime, options, async () => {
    throw new Error('broken');
  });
  await assert.rejects(failing, /broken/);
  assertClean(virtual, parent.signal);

  // Work that ignores its signal: the wait ends all the same.
  const deaf = runWithDeadline(runtime, options, () => new Promise<never>(() => {}));
  const rejected = assert.rejects(deaf, { code: 'deadline_exceeded' });
  await virtual.runFor(50);
  await rejected;
  assertClean(virtual, parent.signal);

  parent.abort('over');
  let started = false;
  const late = runWithDeadline(runtime, options, async () => {
    started = true;
  });
  await assert.rejects(late, (reason) => reason === 'over');
  assert.equal(started, false);
});

test('orAborted prefers what comes first and drops its listener', async () => {
  const { signal } = new AbortController();
  assert.equal(await orAborted(Promise.resolve(7), signal), 7);
  await assert.rejects(orAborted(Promise.reject(new Error('no')), signal), /no/);
  await drainMicrotasks();
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  const aborted = AbortSignal.abort('early');
  await assert.rejects(orAborted(new Promise(() => {}), aborted), (reason) => reason === 'early');
});

test('sleep ends on time, or with the reason of its signal', async () => {
  const virtual = createVirtual();
  const controller = new AbortController();
  let wokeAtMs = -1;
  const woken = sleep(virtual.runtime, 30, controller.signal).then(() => {
    wokeAtMs = virtual.nowMs;
  });
  await virtual.runUntil(100);
  await woken;
  assert.equal(wokeAtMs, 30);
  assertClean(virtual, controller.signal);

  const interrupted = sleep(virtual.runtime, 30, controller.signal);
  controller.abort('wake up');
  await assert.rejects(interrupted, (reason) => reason === 'wake up');
  assertClean(virtual, controller.signal);
  await assert.rejects(sleep(virtual.runtime, 30, controller.signal));
  assertClean(virtual, controller.signal);
});
