// Proves that a blocked event loop and a garbage collection are seen by Node's own source.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { realRuntime } from '@bigfleet/base/real';
import { type GcKind, nodeThreadSource } from './source.ts';

const { clock, timers } = realRuntime();

function tick(ms: number): Promise<void> {
  return new Promise((resolve) => {
    timers.after(ms, resolve);
  });
}

test('a loop that was blocked for 80 ms has that lag, and reading starts anew', async () => {
  const source = nodeThreadSource();
  try {
    await tick(30); // the monitor ticks every 10 ms and must be running before the block
    const until = clock.monotonicMs() + 80;
    while (clock.monotonicMs() < until);
    await tick(30);
    const lag = source.takeLoopLag();
    assert.ok(lag.maxSeconds >= 0.06, `greatest lag ${lag.maxSeconds}`);
    assert.ok(lag.minSeconds <= lag.p50Seconds && lag.p50Seconds <= lag.p99Seconds);
    const empty = source.takeLoopLag();
    assert.equal(empty.maxSeconds, 0);
    assert.equal(empty.stddevSeconds, 0);
  } finally {
    source.stop();
  }
});

test('garbage collections arrive with their kind', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const source = nodeThreadSource();
  const seen: GcKind[] = [];
  const arrived = new Promise<void>((resolve) => {
    source.onGc((kind, seconds) => {
      assert.ok(seconds > 0);
      seen.push(kind);
      if (kind === 'major') resolve();
    });
  });
  try {
    collect();
    await arrived;
    assert.ok(!seen.includes('other'));
  } finally {
    source.stop();
  }
});
