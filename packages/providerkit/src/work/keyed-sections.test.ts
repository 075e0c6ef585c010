// Proves that bodies of one key never overlap and run in the order of their calls, that keys do not
// wait for each other, that a failing body frees its key, and that callers are bounded.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { KeyedSections } from './keyed-sections.ts';

const never = new AbortController().signal;

test('one at a time per key, in order; other keys pass', async () => {
  const sections = new KeyedSections();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const body = (name: string, wait?: Promise<void>) => async (): Promise<string> => {
    log.push(`${name}+`);
    await wait;
    log.push(`${name}-`);
    return name;
  };
  const a = sections.run('x', body('a', gate.promise));
  const b = sections.run('x', body('b'));
  const c = sections.run('y', body('c'));
  assert.equal(await c, 'c');
  assert.deepEqual(log, ['a+', 'c+', 'c-']);
  gate.resolve();
  assert.deepEqual(await Promise.all([a, b]), ['a', 'b']);
  assert.deepEqual(log.slice(3), ['a-', 'b+', 'b-']);
});

test('a body that rejects frees its key and rejects alone', async () => {
  const sections = new KeyedSections();
  const failing = sections.run('x', () => Promise.reject(new Error('mine')));
  const next = sections.run('x', async () => 'next');
  await assert.rejects(failing, /mine/);
  assert.equal(await next, 'next');
});

test('whenIdle waits for every open section', async () => {
  const sections = new KeyedSections();
  await sections.whenIdle();
  const gate = Promise.withResolvers<void>();
  const open = sections.run('x', () => gate.promise);
  let isIdle = false;
  const idle = sections.whenIdle().then(() => {
    isIdle = true;
  });
  await Promise.resolve();
  assert.equal(isIdle, false);
  gate.resolve();
  await open;
  await idle;
  assert.equal(isIdle, true);
});

test('callers beyond the bound are refused, the kit itself is not', async () => {
  const sections = new KeyedSections();
  const gate = Promise.withResolvers<void>();
  const waiting = Array.from({ length: 4_096 }, () =>
    sections.runCall('x', never, () => gate.promise),
  );
  assert.throws(
    () => sections.runCall('x', never, () => gate.promise),
    (error) => error instanceof BigFleetError && error.code === 'provider_busy',
  );
  const own = sections.run('x', async () => 'own');
  const other = sections.runCall('y', never, async () => 'other');
  gate.resolve();
  await Promise.all(waiting);
  assert.deepEqual([await own, await other], ['own', 'other']);
});
