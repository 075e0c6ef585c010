// Records how long a shard with open streams takes to end by itself: well before a kubelet would kill it,
// if it meets its goal.

import { test } from 'node:test';
import { stopWithSessions } from './stop-with-sessions.ts';

const GOAL_MS = 15_000;

test('SIGTERM with fifty open sessions: how long until it is gone', async (t) => {
  const tookMs = await stopWithSessions();
  t.diagnostic(`${Math.round(tookMs)} ms, goal ${GOAL_MS} ms`);
});
