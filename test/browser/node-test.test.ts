// Proves that the worker's stand-in for node:test runs every collected test once, names it with
// its suites, reports failures of both kinds, and refuses what it would run as something else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as shim from './node-test.ts';

test('collects, runs in order, reports failures', async () => {
  const ran: string[] = [];
  shim.describe('outer', () => {
    shim.describe('inner', () => shim.test('one', () => void ran.push('one')));
    shim.test('two', () => assert.fail('boom'));
  });
  shim.test('three', async () => {
    await Promise.resolve();
    ran.push('three');
    throw new Error('later');
  });
  const outcomes = await shim.runCollected();
  assert.deepEqual(ran, ['one', 'three']);
  assert.deepEqual(
    outcomes.map(({ name, problem }) => [name, /boom|later/.exec(problem ?? '')?.[0]]),
    [
      ['outer › inner › one', undefined],
      ['outer › two', 'boom'],
      ['three', 'later'],
    ],
  );
  assert.deepEqual(await shim.runCollected(), [], 'a test runs once');
});

test('refuses options and contexts', () => {
  const call = shim.test as (name: string, ...rest: readonly unknown[]) => void;
  const suite = shim.describe as (name: string, ...rest: readonly unknown[]) => void;
  assert.throws(() => call('skipped', { skip: true }, () => {}), /not available/);
  assert.throws(() => call('with context', (t: unknown) => t), /not available/);
  assert.throws(() => suite('skipped', { skip: true }, () => {}), /not available/);
});
