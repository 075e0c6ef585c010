// Proves that a shard with open streams is gone well before a kubelet would kill it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stopWithSessions } from './stop-with-sessions.ts';

const BAR_MS = 15_000;

test('SIGTERM with fifty open sessions: gone within 15 s', async (t) => {
  const tookMs = await stopWithSessions();
  t.diagnostic(`${Math.round(tookMs)} ms`);
  assert.ok(tookMs < BAR_MS, `${tookMs} ms`);
});
