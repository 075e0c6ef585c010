// Proves the form of operation ids: prefix, version 7, the runtime's time in front, so that ids
// sort by age; unique under one clock; and the same again under the same seed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { operationId } from './operation-id.ts';

const FORM = /^aws-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('ids are well formed, unique, ordered by time, and replay', async () => {
  const ids: string[] = [];
  for (const seed of ['one', 'one', 'two']) {
    const time = createVirtualRuntime({ seed, drain: drainMicrotasks });
    ids.push(operationId(time.runtime, 'aws'), operationId(time.runtime, 'aws'));
    await time.runFor(5_000);
    ids.push(operationId(time.runtime, 'aws'));
  }
  for (const id of ids) assert.match(id, FORM);
  assert.deepEqual(ids.slice(0, 3), ids.slice(3, 6));
  assert.equal(new Set(ids).size, 6);
  assert.ok((ids[0] ?? '').slice(0, 16) < (ids[2] ?? '').slice(0, 16));
  const ms = Number.parseInt((ids[0] ?? '').slice(4, 12) + (ids[0] ?? '').slice(13, 17), 16);
  assert.equal(ms, Date.UTC(2026, 0, 1));
});
