// Proves which parts of which trace are written: none behind a hole, all of its successor, and a
// successor is asked for once a minute at most.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TraceTrack } from './trace-track.ts';

interface World {
  readonly track: TraceTrack;
  readonly clock: { nowMs: number };
  asked(): number;
}

function world(): World {
  const clock = { nowMs: 0 };
  let askedCount = 0;
  const time = { monotonicMs: () => clock.nowMs, unixNanos: () => 0n };
  const track = new TraceTrack(time, () => askedCount++);
  return { track, clock, asked: () => askedCount };
}

test('behind a hole nothing is written until another trace begins', () => {
  const { track } = world();
  assert.equal(track.admit(false), undefined, 'before the first');
  assert.equal(track.admit(true), 1);
  assert.equal(track.admit(false), 1);
  track.broke(1);
  assert.equal(track.admit(false), undefined);
  assert.equal(track.admit(true), 2);
  track.broke(1);
  assert.equal(track.admit(false), 2, 'a late failure of the old one ends nothing');
});

test('a broken trace gets a successor, once a minute at most', () => {
  const { track, clock, asked } = world();
  track.admit(true);
  track.heal();
  assert.equal(asked(), 0);
  track.broke(1);
  track.heal();
  track.heal();
  assert.equal(asked(), 1);
  track.admit(true);
  track.broke(2);
  clock.nowMs = 59_999;
  track.heal();
  assert.equal(asked(), 1);
  clock.nowMs = 60_000;
  track.heal();
  assert.equal(asked(), 2);
});

test('a full trace goes on until its successor begins, and asks for it once', () => {
  const { track, asked } = world();
  track.admit(true);
  track.full(1);
  track.full(1);
  assert.equal(asked(), 1);
  assert.equal(track.admit(false), 1);
  assert.equal(track.admit(true), 2);
  track.full(1);
  assert.equal(asked(), 1, 'the old one is full, the new one is not');
  track.full(2);
  assert.equal(asked(), 2);
});

test('given up is for good', () => {
  const { track, asked } = world();
  track.admit(true);
  track.giveUp();
  assert.equal(track.admit(true), undefined);
  track.broke(9);
  track.heal();
  assert.equal(asked(), 0);
});
