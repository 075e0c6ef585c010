// Proves that a shutdown ends in time whatever hangs, says so, and hides no failure.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { type CapturedLog, captureSink, createLogger } from '@bigfleet/telemetry';
import { stopWithin, type StopWithinOptions } from './stop-shard.ts';

const MS = 14_000;

interface Stage {
  readonly time: VirtualRuntime;
  readonly log: CapturedLog;
  readonly options: StopWithinOptions;
}

function stage(): Stage {
  const time = createVirtualRuntime({ seed: 'stop', drain: drainMicrotasks });
  const { runtime } = time;
  const log = captureSink();
  const logger = createLogger({ clock: runtime.clock, sink: log });
  return { time, log, options: { runtime, logger, ms: MS } };
}

test('a disk that never answers is given up, with a line in the log', async () => {
  const { time, log, options } = stage();
  const stopped = stopWithin(options, () => new Promise<void>(() => {}));
  await time.runFor(MS);
  await stopped;
  assert.match(log.lines.join(''), /level=ERROR msg="shutdown took too long/);
});

test('a shutdown in time leaves no line and no timer', async () => {
  const { time, log, options } = stage();
  await stopWithin(options, () => Promise.resolve());
  assert.equal(time.pendingTimers, 0);
  assert.deepEqual(log.lines, []);
});

test('what fails is not mistaken for what hangs', async () => {
  const { options } = stage();
  await assert.rejects(
    stopWithin(options, () => Promise.reject(new Error('broken'))),
    /broken/,
  );
});
