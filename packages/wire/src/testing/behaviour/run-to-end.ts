// Runs a test body under virtual time. A body that waits while no event is left would hang for
// ever; here it fails at once.

import assert from 'node:assert/strict';
import type { VirtualRuntime } from '@bigfleet/base';

const MAX_EVENTS = 1_000_000;
const MAX_STEP_MS = 24 * 3_600_000;

export async function runToEnd<T>(time: VirtualRuntime, body: () => Promise<T>): Promise<T> {
  let isDone = false;
  const work = body().finally(() => {
    isDone = true;
  });
  // Awaited below; until then a failure must not count as unhandled.
  work.catch(() => {});
  const lastEvent = time.firedEvents + MAX_EVENTS;
  for (;;) {
    const { stopped } = await time.runUntilIdle({ maxEvents: 1, maxMs: MAX_STEP_MS });
    if (isDone) return await work;
    assert.notEqual(stopped, 'idle', 'the body waits, and nothing is left to happen');
    assert.ok(time.firedEvents < lastEvent, 'the body does not end');
  }
}
